import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { loadScript, sortableUint64 } from '../../../runtime/redis-script.ts';
import type { RedisKeys } from '../queue/redis-keys.ts';
import type { QuoteUpdate } from '../quote-update.ts';

/** How long the newest update of a uuid is remembered after it was last seen. */
export const NEWEST_KEPT_MS = 3_600_000;
/** The owner outlives all that builders' scripts note of a uuid, which they do within seconds of its registration. */
const OWNER_KEPT_MS = NEWEST_KEPT_MS + 60_000;

const register = loadScript('./register.lua', import.meta.url);
const admit = loadScript('./admit.lua', import.meta.url);

export type Registration = 'foreign' | 'newest' | 'same' | 'older';
export type Admission = 'send' | 'fenced' | 'superseded';

/**
 * Notes an arriving update in one atomic step, once for all builders of the chain: only the newest known update of a
 * uuid, by sequence number, is ever sent. `same`: this update came before, and may be sent again. `foreign`: another
 * holder used the uuid first, so the update changes nothing.
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

export interface FencedSender {
  readonly redis: Redis;
  readonly keys: RedisKeys;
  readonly endpointId: string;
  /** Token of its lease of the endpoint. */
  readonly fence: string;
}

/** Decides atomically, right before the bytes go out, whether a holder of a fencing token may send the update. */
export async function admitUpdate(
  { redis, keys, endpointId, fence }: FencedSender,
  update: QuoteUpdate,
): Promise<Admission> {
  const names = [keys.lease(endpointId), keys.newestUpdate(update.chainId, update.replacementUuid)];
  const args = [fence, sortableUint64(update.replacementSeqNumber), updateDigest(update), NEWEST_KEPT_MS];
  return (await admit(redis, names, args)) as Admission;
}

/** Identifies what a stream builder receives. The expiry is not part of it, since streams do not carry it. */
function updateDigest(update: QuoteUpdate): string {
  const { tx, blockNumber, disableCrossRegionSharing, quoteAddress, poolAddresses, assetPairs } = update;
  const content = [tx, blockNumber, disableCrossRegionSharing, quoteAddress, poolAddresses, assetPairs];
  return createHash('sha256').update(content.map(String).join('|')).digest('hex');
}
