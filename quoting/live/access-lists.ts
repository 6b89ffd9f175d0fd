import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { type AccessList, readAccessList } from '../../chain/access-list.ts';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { StateOverrides } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { Clock } from '../../runtime/clock.ts';
import { growingTo } from '../../runtime/growing-cache.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { perObject } from '../../runtime/per-object.ts';
import { priceCall } from '../calls/probe-calls.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import type { StoredWord } from './slot-map.ts';

export interface AccessListsDeps {
  readonly rpc: Pick<ChainRpc, 'requestOptional' | 'mayHave'>;
  /** Takes a call from the budget of scheduled reads; false: none is left. */
  readonly reserve: () => boolean;
  readonly readTimeoutMs: number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly now: Clock;
}

interface Known {
  /** Another object once the pool is listed with other properties. */
  readonly pool: ServedPool;
  /** Null after a read contradicted it. */
  readonly list: AccessList | null;
  /** Block that it was read at. */
  readonly hash: BlockRef['hash'];
  /**
   * Whether the pool had a price there: otherwise the read may have ended early, so the list is of that block alone.
   */
  readonly isWhole: boolean;
  readonly readAt: number;
  /** When a read last agreed with the list. */
  checkedAt: number;
}

type TrustedList = Known & { readonly list: AccessList };

/** For how many pools it is remembered what their prices read: those read last. */
const MAX_POOLS = 10_000;
/** A list is read again after this time. No list of a pool is trusted for as long after a read contradicted one. */
const LIST_MS = 300_000;
/**
 * A pool that no override touches is read live this often, to check its list. So is the list of a pool without a price.
 */
const CHECK_MS = 30_000;
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
  readonly #known = new LRUCache<Address, Known>(growingTo(MAX_POOLS));
  readonly #reading = new Set<Address>();
  readonly #outage: OutageLog;

  constructor(deps: AccessListsDeps) {
    this.#deps = deps;
    this.#outage = new OutageLog(deps.logger, {
      begin: 'no node gives access lists: state overrides cost more reads',
      end: 'nodes give access lists again',
      now: deps.now,
    });
  }

  /** Whether the price of a pool is the same with and without the overrides. False also while that is not known. */
  isUntouched(pool: ServedPool, block: BlockRef): boolean {
    const known = this.#find(pool, block);
    return known !== null && this.#deps.now() - known.checkedAt < CHECK_MS && touchedIn(known, block).name === '';
  }

  /**
   * Names the overrides that the price of a pool reads: overrides of the same name give the same price at one block.
   * Empty: none. Null: unknown.
   */
  touching(pool: ServedPool, block: BlockRef): string | null {
    const known = this.#find(pool, block);
    if (!known) return null;
    const { name } = touchedIn(known, block);
    return known.isWhole || name === '' ? name : null;
  }

  /** The overrides that the price of a pool reads; null: unknown. */
  words(pool: ServedPool, block: BlockRef): readonly StoredWord[] | null {
    const known = this.#find(pool, block);
    return known?.isWhole ? touchedIn(known, block).words : null;
  }

  /** Notes that a read agreed with the list of a pool. */
  confirm({ address }: ServedPool): void {
    const known = this.#known.get(address);
    if (known) known.checkedAt = this.#deps.now();
  }

  /** Distrusts the list of a pool, since a read contradicted it. */
  distrust(pool: ServedPool, { hash }: BlockRef): void {
    const now = this.#deps.now();
    this.#known.set(pool.address, { pool, list: null, hash, isWhole: true, readAt: now, checkedAt: now });
  }

  /**
   * Reads the list of a pool at a block, as far as it is worth a call and the budget has one. Never rejects.
   *
   * @param hasPrice whether the pool has a price at that block
   */
  async learn(pool: ServedPool, block: BlockRef, hasPrice: boolean): Promise<void> {
    const { rpc, reserve, readTimeoutMs, now } = this.#deps;
    const { address } = pool;
    if (this.#isKnown(pool, hasPrice) || this.#reading.has(address) || this.#reading.size >= MAX_READS) return;
    if (!rpc.mayHave(block.pending ? 'liveAccessLists' : 'accessLists') || !reserve()) return;
    this.#reading.add(address);
    try {
      const context = { block, signal: AbortSignal.timeout(readTimeoutMs) };
      const list = await readAccessList(rpc, context, [priceCall(pool)]);
      const read = { pool, list, hash: block.hash, isWhole: hasPrice, readAt: now(), checkedAt: now() };
      // An empty list is no answer: the price is read from storage.
      if (list.get(address)?.size) this.#known.set(address, read);
      if (!block.pending) this.#outage.worked();
    } catch (error) {
      // Few public nodes trace, and operators know it.
      if (!block.pending) this.#outage.failed(error);
    } finally {
      this.#reading.delete(address);
    }
  }

  /** Whether another list would say no more, or may not be trusted. */
  #isKnown(pool: ServedPool, hasPrice: boolean): boolean {
    const known = this.#known.get(pool.address);
    if (known?.pool !== pool) return false;
    const ageMs = this.#deps.now() - known.readAt;
    return known.isWhole ? ageMs < LIST_MS : !hasPrice && ageMs < CHECK_MS;
  }

  #find(pool: ServedPool, { hash }: BlockRef): TrustedList | null {
    const known = this.#known.get(pool.address);
    if (known?.pool !== pool || !isTrusted(known) || this.#deps.now() - known.readAt >= LIST_MS) return null;
    return known.isWhole || known.hash === hash ? known : null;
  }
}

const isTrusted = (known: Known): known is TrustedList => known.list !== null;

/** Overrides of storage in a list, and a text that names them: empty where there are none. */
interface Touched {
  readonly words: readonly StoredWord[];
  readonly name: string;
}

const UNTOUCHED: Touched = { words: [], name: '' };

/** Several steps of a read ask for each pool. */
const touchedBy = perObject((overrides: StateOverrides) =>
  perObject((list: AccessList): Touched => {
    const words = touchedWords(list, overrides);
    return { words, name: words.map((word) => word.join('')).join() };
  }),
);

const touchedIn = ({ list }: TrustedList, { pending }: BlockRef): Touched =>
  pending ? touchedBy(pending.overrides)(list) : UNTOUCHED;

function touchedWords(list: AccessList, overrides: StateOverrides): readonly StoredWord[] {
  const found: StoredWord[] = [];
  for (const [account, slots] of list) {
    const ofAccount = overrides.get(account);
    if (!ofAccount) continue;
    for (const slot of slots) {
      const word = ofAccount.get(slot);
      if (word !== undefined) found.push([account, slot, word]);
    }
  }
  return found;
}
