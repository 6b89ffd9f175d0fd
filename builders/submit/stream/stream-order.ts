import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { RedisKeys } from '../queue/redis-keys.ts';
import { loadScript, sortableUint64 } from '../queue/redis-script.ts';
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
 * Keeps the updates of a uuid in order on every stream of a chain: only the newest one known, by sequence number, is
 * ever sent. Shared by all processes through Redis; each method is one atomic step.
 */
export class StreamOrder {
  readonly #redis: Redis;
  readonly #keys: RedisKeys;

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /**
   * Notes an arriving update, once for all builders of the chain. `same` is this very update once more, which may be sent
   * again; `foreign` is one of a uuid that another holder used first, which must change nothing.
   *
   * @param holder whose key the update came with; see `KeyIdentity`
   */
  async register(update: QuoteUpdate, holder: string): Promise<Registration> {
    const { chainId, replacementUuid, replacementSeqNumber } = update;
    const keys = [this.#keys.newestUpdate(chainId, replacementUuid), this.#keys.owner(chainId, replacementUuid)];
    const args = [sortableUint64(replacementSeqNumber), updateDigest(update), NEWEST_KEPT_MS, holder, OWNER_KEPT_MS];
    return (await register(this.#redis, keys, args)) as Registration;
  }

  /** Asks, right before the bytes go out, whether the holder of this fencing token may send the update. */
  async admit(endpointId: string, fence: string, update: QuoteUpdate): Promise<Admission> {
    const keys = [this.#keys.lease(endpointId), this.#keys.newestUpdate(update.chainId, update.replacementUuid)];
    const args = [fence, sortableUint64(update.replacementSeqNumber), updateDigest(update), NEWEST_KEPT_MS];
    return (await admit(this.#redis, keys, args)) as Admission;
  }
}

/** Identity of what a stream builder receives; not the expiry, which streams do not carry. */
function updateDigest(update: QuoteUpdate): string {
  const { tx, blockNumber, disableCrossRegionSharing, quoteAddress, poolAddresses, assetPairs } = update;
  const content = [tx, blockNumber, disableCrossRegionSharing, quoteAddress, poolAddresses, assetPairs];
  return createHash('sha256').update(content.map(String).join('|')).digest('hex');
}
