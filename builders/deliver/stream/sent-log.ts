import { LRUCache } from 'lru-cache';
import type { Hex } from '../../submit/quote-update.ts';

const MOST_UUIDS = 50_000;

/**
 * This process's own memory of the newest sequence number sent per uuid on one endpoint. It outlives leases and
 * connections, so that order holds even when Redis comes back without its data.
 */
export class SentLog {
  readonly #newest = new LRUCache<Hex, bigint>({ max: MOST_UUIDS });

  /** Whether something newer than this was sent already. The same number may be sent again. */
  isOlder(uuid: Hex, seq: bigint): boolean {
    const newest = this.#newest.get(uuid);
    return newest !== undefined && seq < newest;
  }

  note(uuid: Hex, seq: bigint): void {
    this.#newest.set(uuid, seq);
  }
}
