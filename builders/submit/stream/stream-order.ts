import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { loadScript, sortableUint64 } from '../../../runtime/redis-script.ts';
import type { RedisKeys } from '../queue/redis-keys.ts';
import type { QuoteUpdate } from '../quote-update.ts';

/** How long the newest update of a uuid is remembered after it was last seen. */
const NEWEST_KEPT_MS = 3_600_000;
/** What builders' scripts know of a uuid is noted within seconds of its registration: its owner outlives all of that. */
const OWNER_KEPT_MS = NEWEST_KEPT_MS + 60_000;

const register = loadScript('./register.lua', import.meta.url);
const admit = loadScript('./admit.lua', import.meta.url);

export type Registration = 'foreign' | 'newest' | 'same' | 'older';
export type Admission = 'send' | 'fenced' | 'superseded';

/**
 * Notes an arriving update, once for all builders of the chain, in one atomic step: of each uuid only the newest update
 * known, by sequence number, is ever sent. `same` is this update once more, which may be sent again; `foreign` is one of a
 * uuid that another holder used first, which must change nothing.
 *
 * @param holder whose key the update came with; see `KeyIdentity`
 */
export async function registerUpdate(
  redis: Redis,
  keys: RedisKeys,
  update: QuoteUpdate,
  holder: string,
): Promise<Registration> {
  const { chainId, replacementUuid, replacementSeqNumber } = update;
  const names = [keys.newestUpdate(chainId, replacementUuid), keys.owner(chainId, replacementUuid)];
  const args = [sortableUint64(replacementSeqNumber), updateDigest(update), NEWEST_KEPT_MS, holder, OWNER_KEPT_MS];
  return (await register(redis, names, args)) as Registration;
}

/** Asks in one atomic step, right before the bytes go out, whether the holder of this fencing token may send the update. */
export async function admitUpdate(
  redis: Redis,
  keys: RedisKeys,
  endpointId: string,
  fence: string,
  update: QuoteUpdate,
): Promise<Admission> {
  const names = [keys.lease(endpointId), keys.newestUpdate(update.chainId, update.replacementUuid)];
  const args = [fence, sortableUint64(update.replacementSeqNumber), updateDigest(update), NEWEST_KEPT_MS];
  return (await admit(redis, names, args)) as Admission;
}

/** Identity of what a stream builder receives; not the expiry, which streams do not carry. */
function updateDigest(update: QuoteUpdate): string {
  const { tx, blockNumber, disableCrossRegionSharing, quoteAddress, poolAddresses, assetPairs } = update;
  const content = [tx, blockNumber, disableCrossRegionSharing, quoteAddress, poolAddresses, assetPairs];
  return createHash('sha256').update(content.map(String).join('|')).digest('hex');
}
