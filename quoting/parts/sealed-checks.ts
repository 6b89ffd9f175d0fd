import type { Address } from 'viem';
import { isLaterView } from '../../chain/part-view.ts';
import type { PartView } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { stateIn } from '../calls/decode-pool.ts';
import type { LiveObserver, SealedOutcome } from '../live/live-metrics.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import type { PriceSnapshot } from '../types.ts';
import { Divergence, type DivergenceDeps, type SealedPools } from './divergence.ts';
import type { SealedFees } from './next-lag.ts';

export interface SealedChecksDeps extends DivergenceDeps {
  /** Anyone can make other pools: these decide nothing. */
  readonly isFunded: (pool: ServedPool) => boolean;
  readonly observer?: Pick<LiveObserver, 'sealed'> | undefined;
}

/** A pool after the last part of a block that it was read at. */
interface ReadPart {
  readonly view: PartView;
  readonly state: string;
}

/** Of a sealed block, and of one node. */
interface FoundPools {
  readonly block: BlockRef;
  readonly node: string | undefined;
  readonly same: Address[];
  readonly different: Address[];
}

/** A block is compared once it is sealed: parts of the next one may come before that, and of the one after. */
const KEPT_BLOCKS = 3;

/**
 * Compares what pools were after the last part of a block with what they are in it once it is sealed. Both are read for
 * quotes, so that no call is made for this. The fees that were paid tell whether anything happened after that part.
 */
export class SealedChecks {
  readonly #deps: SealedChecksDeps;
  /** By number, the lowest first. */
  readonly #parts = new Map<bigint, Map<Address, ReadPart>>();
  /** Of the last committed block that this process read itself. */
  #fees: { readonly hash: BlockRef['hash']; readonly feesWei: bigint } | undefined;
  #found: FoundPools | undefined;
  readonly #divergence: Divergence;
  readonly #listeners = new Set<(pools: SealedPools) => void>();
  readonly #feesListeners = new Set<(fees: SealedFees) => void>();

  constructor(deps: SealedChecksDeps) {
    this.#deps = deps;
    this.#divergence = new Divergence(deps);
  }

  /** As {@link Divergence} says. */
  isDivergent(node: string | undefined): boolean {
    return this.#divergence.isDivergent(node);
  }

  /** Calls the listener with the funded pools of a block that this process compared. */
  onCompared(listener: (pools: SealedPools) => void): void {
    this.#listeners.add(listener);
  }

  /** Calls the listener with what the accounts of fees hold in each committed block that this process reads. */
  onFees(listener: (fees: SealedFees) => void): void {
    this.#feesListeners.add(listener);
  }

  /** Notes what the accounts of fees hold in a committed block: pools of this block are noted after that. */
  noteFees({ number, hash }: BlockRef, feesWei: bigint): void {
    if (this.#fees?.hash === hash) return;
    this.#fees = { hash, feesWei };
    for (const listener of this.#feesListeners) listener({ number, hash, feesWei });
  }

  /** Notes a pool that was read, after a part or in a committed block. */
  note(snapshot: PriceSnapshot): void {
    const { pool, block } = snapshot;
    const { pending } = block;
    if (pending?.part) {
      this.#notePart(pool, { view: pending.part.view, state: stateIn(snapshot) });
      return;
    }
    const part = this.#parts.get(block.number)?.get(pool.address);
    if (!part || this.#fees?.hash !== block.hash) return;
    this.#parts.get(block.number)?.delete(pool.address);
    const isAll = part.view.feesWei === this.#fees.feesWei && part.view.timestamp === block.timestamp;
    const outcome = !isAll ? 'unseen' : part.state === stateIn(snapshot) ? 'same' : 'different';
    this.#deps.observer?.sealed(outcome);
    if (outcome !== 'unseen' && this.#deps.isFunded(pool)) this.#add({ block, node: part.view.node }, pool, outcome);
  }

  /** Takes what this or another process compared. */
  take(pools: SealedPools): void {
    this.#divergence.take(pools);
  }

  #notePart({ address }: ServedPool, read: ReadPart): void {
    const { blockNumber } = read.view;
    const pools = this.#parts.get(blockNumber) ?? new Map<Address, ReadPart>();
    const known = pools.get(address);
    if (!known || !isLaterView(known.view, read.view)) pools.set(address, read);
    this.#parts.set(blockNumber, pools);
    for (const number of this.#parts.keys())
      if (number <= blockNumber - BigInt(KEPT_BLOCKS)) this.#parts.delete(number);
  }

  /** Pools of a block and node that are noted in one turn of the event loop are taken together. */
  #add(
    of: Pick<FoundPools, 'block' | 'node'>,
    { address }: ServedPool,
    outcome: Exclude<SealedOutcome, 'unseen'>,
  ): void {
    if (this.#found?.block.hash !== of.block.hash || this.#found.node !== of.node) this.#flush();
    const found = this.#found ?? { ...of, same: [], different: [] };
    found[outcome].push(address);
    if (!this.#found) queueMicrotask(() => this.#flush());
    this.#found = found;
  }

  #flush(): void {
    const found = this.#found;
    if (!found) return;
    this.#found = undefined;
    const { block, ...rest } = found;
    const pools = { blockNumber: block.number, timestamp: block.timestamp, ...rest };
    this.take(pools);
    for (const listener of this.#listeners) listener(pools);
  }
}
