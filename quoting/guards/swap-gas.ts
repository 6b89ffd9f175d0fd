import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { boundedCalls, type ChainTarget } from '../../chain/isolated-calls.ts';
import { stateOf } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { GroupAnswer } from '../../protocol/bounded-calls/run-bounded-calls.ts';
import type { PoolSide } from '../../protocol/curve.ts';
import type { DepthLevel } from '../../protocol/depth.ts';
import { minBigint } from '../../protocol/fixed-point.ts';
import { simulatedSwap } from '../../protocol/guards/simulated-swap.ts';
import { filledSwap } from '../../protocol/pool-errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { guardPlan } from '../pools/pool-directory.ts';
import type { DepthSnapshot } from '../types.ts';

/**
 * Gas that the pool takes for a swap of a whole side, in thousands rounded up, without transfers of tokens and what any
 * transaction costs. Null: not measured yet, or no such swap fills.
 */
export interface PoolGas {
  readonly bids: number | null;
  readonly asks: number | null;
}

/** A pool that is to be measured, and where. */
interface Asked {
  readonly snapshot: DepthSnapshot;
  readonly block: BlockRef;
}

interface Measured {
  readonly gas: PoolGas;
  readonly triedAt: number;
  /** How many bins the pool then had on both sides; null: nodes did not answer. */
  readonly bins: number | null;
}

const UNKNOWN: PoolGas = { bids: null, asks: null };
/** Gas changes with bins and extensions, hardly with prices: while bins are as many, it is kept for so long. */
const KEEP_MS = 3_600_000;
/** Otherwise it is measured again after this time. */
const RETRY_MS = 60_000;
const MAX_POOLS = 10_000;
/** Of about one call: where the budget has no more, those of before are measured. */
const POOLS_AT_ONCE = 25;

export interface SwapGasDeps {
  /** The nodes to ask at a block. */
  readonly targetAt: (block: BlockRef) => ChainTarget;
  /** Takes a call from the budget of scheduled reads; false when it has none. */
  readonly reserve: () => boolean;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly now: Clock;
}

/**
 * Measures what swaps of pools take by simulating them: each pool that is asked for, once an hour and when its bins
 * change, many in one call.
 */
export class SwapGas {
  readonly #measured = new LRUCache<Address, Measured>({ max: MAX_POOLS });
  readonly #outage: OutageLog;
  readonly #waiting = new Map<Address, Asked>();
  #isMeasuring = false;

  constructor(private readonly deps: SwapGasDeps) {
    this.#outage = new OutageLog(deps.logger, {
      begin: 'gas of swaps is not measured: it stays as it was, or unknown',
      end: 'gas of swaps is measured again',
      now: deps.now,
    });
  }

  /**
   * What is known; begins to measure what is not.
   *
   * @param block a newer one than the snapshot's, if the pool is the same there
   */
  of(snapshot: DepthSnapshot, block: BlockRef): PoolGas {
    const { address } = snapshot.pool;
    const known = this.#measured.get(address);
    if (!known || this.deps.now() >= known.triedAt + (known.bins === binsOf(snapshot) ? KEEP_MS : RETRY_MS)) {
      this.#waiting.set(address, { snapshot, block });
      if (!this.#isMeasuring) void this.#measureAll();
    }
    return known?.gas ?? UNKNOWN;
  }

  async #measureAll(): Promise<void> {
    this.#isMeasuring = true;
    // More pools of the same frame come meanwhile.
    await new Promise(setImmediate);
    for (let [first] = this.#waiting.values(); first; [first] = this.#waiting.values()) {
      const { block } = first;
      const together = [...this.#waiting.values()].filter((each) => stateOf(each.block) === stateOf(block));
      const snapshots = together.slice(0, POOLS_AT_ONCE).map(({ snapshot }) => snapshot);
      // Who asks meanwhile waits for this measurement.
      this.#note(snapshots, []);
      for (const { pool } of snapshots) this.#waiting.delete(pool.address);
      await this.#measure(block, snapshots);
    }
    this.#isMeasuring = false;
  }

  /** Nodes that do not answer are asked again in a minute, as they are when the budget is exhausted. */
  async #measure(block: BlockRef, snapshots: readonly DepthSnapshot[]): Promise<void> {
    const swaps = snapshots.map(wholeSides);
    const calls = swaps.map((sides) => sides.map(({ call }) => call));
    if (calls.flat().length === 0) return;
    const { targetAt, reserve } = this.deps;
    try {
      const { answers } = await boundedCalls(targetAt(block), { block, reserve }, calls);
      this.#note(
        snapshots,
        answers.map((answer, index) => answer && gasOf(swaps[index] ?? [], answer)),
      );
      this.#outage.worked();
    } catch (error) {
      if (!(error instanceof RpcFailure && error.code === 'exhausted')) this.#outage.failed(error);
    }
  }

  /** @param measured null or absent: not measured */
  #note(snapshots: readonly DepthSnapshot[], measured: readonly (PoolGas | null)[]): void {
    const triedAt = this.deps.now();
    for (const [index, snapshot] of snapshots.entries()) {
      const { address } = snapshot.pool;
      const gas = measured[index];
      const kept = this.#measured.get(address)?.gas ?? UNKNOWN;
      this.#measured.set(address, { gas: gas ?? kept, triedAt, bins: gas ? binsOf(snapshot) : null });
    }
  }
}

interface WholeSide {
  readonly kind: keyof PoolGas;
  readonly side: PoolSide;
  readonly call: BoundedCall;
}

const gasOf = (sides: readonly WholeSide[], { results }: GroupAnswer): PoolGas => ({
  ...UNKNOWN,
  ...Object.fromEntries(
    sides.map(({ kind, side }, index) => [kind, filledSwap(side, results[index]) ? results[index]?.gasUsed : null]),
  ),
});

const binsOf = ({ depth: { bids, asks } }: DepthSnapshot): number => bids.length + asks.length;

/** Swaps of all that each side of a pool offers. */
function wholeSides({ pool, depth, curve }: DepthSnapshot): WholeSide[] {
  const guards = guardPlan(pool).kind === 'probed' ? 'unknown' : 'known';
  const sideOf = (kind: keyof PoolGas, side: PoolSide | undefined, levels: readonly DepthLevel[]) => {
    const end = levels.at(-1)?.cumulativeInput ?? 0n;
    if (!side || end === 0n) return [];
    return [{ kind, side, call: simulatedSwap(pool.address, side, minBigint(end, side.maxInput), guards) }];
  };
  return [...sideOf('bids', curve?.bids, depth.bids), ...sideOf('asks', curve?.asks, depth.asks)];
}
