import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { type AccessList, readAccessList } from '../../chain/access-list.ts';
import type { BlockRef, ChainRpc } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { Words } from '../../chain/pending-state.ts';
import type { Logger } from '../../runtime/logger.ts';
import { priceCall } from '../calls/pool-calls.ts';
import type { ServedPool } from '../pools/pool-directory.ts';

export interface AccessListsDeps {
  readonly rpc: Pick<ChainRpc, 'request'>;
  /** Takes a call from the budget of scheduled reads; false: none is left. */
  readonly reserve: () => boolean;
  readonly readTimeoutMs: number;
  readonly logger: Pick<Logger, 'warn'>;
  readonly now: Clock;
}

interface Known {
  /** Another object once the pool is listed with other properties. */
  readonly pool: ServedPool;
  readonly list: AccessList;
  /** Whether the pool had a price when the list was made: a failed read may have ended before it read everything. */
  readonly isWhole: boolean;
  readonly readAt: number;
  /** When a read last agreed with the list. */
  checkedAt: number;
}

/** For how many pools it is remembered what their prices read: those read last. */
const MAX_POOLS = 10_000;
/** A list is read again after this time. */
const LIST_MS = 300_000;
/** A pool that no override touches is read live this often all the same, to check its list. */
const CHECK_MS = 30_000;
/** So long no list is read after nodes gave none. */
const FAILED_MS = 30_000;
/** Most lists that are read at the same time. */
const MAX_READS = 4;

/**
 * Knows the storage that the prices of pools read, so that state overrides which change none of it cost no read.
 *
 * Calls give the same result wherever the storage that they read is the same. What they read was found at an earlier
 * block, so lists are checked and read again now and then, and forgotten when a read contradicts them.
 */
export class AccessLists {
  readonly #deps: AccessListsDeps;
  readonly #known = new LRUCache<Address, Known>({ max: MAX_POOLS });
  readonly #reading = new Set<Address>();
  #failedUntil = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  constructor(deps: AccessListsDeps) {
    this.#deps = deps;
  }

  /** Whether the price of a pool is the same with and without these overrides. False also while that is not known. */
  isUntouched(pool: ServedPool, overrides: Words): boolean {
    const known = this.#find(pool);
    return known !== undefined && this.#deps.now() - known.checkedAt < CHECK_MS && touching(known, overrides) === '';
  }

  /**
   * Names the overrides that the price of a pool reads: overrides of the same name give the same price at one block.
   * Empty: none. Null: unknown.
   */
  touching(pool: ServedPool, overrides: Words): string | null {
    const known = this.#find(pool);
    if (!known) return null;
    const found = touching(known, overrides);
    return known.isWhole || found === '' ? found : null;
  }

  /** Notes that a read agreed with the list of a pool. */
  confirm(pool: ServedPool): void {
    const known = this.#find(pool);
    if (known) known.checkedAt = this.#deps.now();
  }

  /** Forgets the list of a pool, since a read contradicted it. */
  forget({ address }: ServedPool): void {
    this.#known.delete(address);
  }

  /**
   * Reads the list of a pool at a committed block, as far as it is worth a call and the budget has one. Never rejects.
   *
   * @param hasPrice whether the pool has a price at that block
   */
  async learn(pool: ServedPool, block: BlockRef, hasPrice: boolean): Promise<void> {
    const { rpc, reserve, readTimeoutMs, logger, now } = this.#deps;
    const { address } = pool;
    const known = this.#find(pool);
    if (known && (known.isWhole || !hasPrice)) return;
    if (this.#reading.has(address) || this.#reading.size >= MAX_READS || now() < this.#failedUntil || !reserve())
      return;
    this.#reading.add(address);
    try {
      const list = await readAccessList(rpc, block, [priceCall(pool)], AbortSignal.timeout(readTimeoutMs));
      // An empty list is no answer: the price is read from storage.
      if (list.get(address)?.size)
        this.#known.set(address, { pool, list, isWhole: hasPrice, readAt: now(), checkedAt: now() });
      this.#isFailing = false;
    } catch (error) {
      this.#failedUntil = now() + FAILED_MS;
      if (!this.#isFailing) logger.warn({ err: error }, 'no node gives access lists: state overrides cost more reads');
      this.#isFailing = true;
    } finally {
      this.#reading.delete(address);
    }
  }

  #find(pool: ServedPool): Known | undefined {
    const known = this.#known.get(pool.address);
    return known?.pool === pool && this.#deps.now() - known.readAt < LIST_MS ? known : undefined;
  }
}

/** The overrides of storage in a list, as text. */
function touching({ list }: Known, overrides: Words): string {
  const found: string[] = [];
  for (const [account, slots] of list) {
    const words = overrides.get(account);
    if (!words) continue;
    for (const slot of slots) {
      const word = words.get(slot);
      if (word !== undefined) found.push(`${account}${slot}${word}`);
    }
  }
  return found.join();
}
