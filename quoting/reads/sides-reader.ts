import type { ReadContext } from '../../chain/read-context.ts';
import type { CurveSearch, SearchedCurve } from '../../protocol/curve-search.ts';
import type { TradingSides } from '../../protocol/depth.ts';
import type { LazyCurve } from '../../protocol/layout.ts';
import { withinTransfers } from '../../protocol/transfers/transfer-limits.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import { batched } from '../calls/batched.ts';
import type { GuardProber } from '../guards/guard-prober.ts';
import type { GuardedCurve } from '../guards/unknown-guard-prober.ts';
import { guardPlan } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { CurveSides, PriceSnapshot } from '../types.ts';
import type { CurveSearcher } from './curve-searcher.ts';
import { ownFailure, readSides, type SharedReads, type SidesOutcome, writeSides } from './shared-reads.ts';

export interface SidesReaderDeps {
  readonly prober: GuardProber;
  readonly searcher: CurveSearcher;
  readonly shared: SharedReads;
  /** Longest round, over all nodes and calls. */
  readonly readTimeoutMs: number;
}

/** A curve, and the part of each side that trades. */
export interface FoundCurve {
  readonly curve: SearchedCurve;
  readonly trading: TradingSides;
}

/** Finds how far the sides of pools trade, at the block of their prices. */
export class SidesReader {
  readonly #deps: SidesReaderDeps;
  /** After a part, by the state of guards: that stays the same object while what a pool answers is proven the same. */
  readonly #known = new WeakMap<object, CurveSides>();

  constructor(deps: SidesReaderDeps) {
    this.#deps = deps;
  }

  /**
   * Gives both sides of a pool. Shares the result where it takes calls.
   *
   * @throws SnapshotError when this pool alone was not read, RpcFailure when nodes did not give the block's state
   */
  async read(context: ReadContext, prices: PriceSnapshot): Promise<CurveSides> {
    const { pool, curve } = prices;
    const isComputed = typeof curve === 'function' && guardPlan(pool).kind === 'none';
    if (!curve || isComputed) return this.#readOwn(context, prices);
    const sides = await this.#readShared(context, prices, curve);
    if (sides instanceof SnapshotError) throw sides;
    return sides;
  }

  /** Takes the sides that another process read for all, or reads them and shares them. */
  async #readShared(
    context: ReadContext,
    prices: PriceSnapshot,
    source: LazyCurve | CurveSearch,
  ): Promise<SidesOutcome> {
    const { shared } = this.#deps;
    const { block } = context;
    const { address } = prices.pool;
    const known = await shared.find('sides', block, address);
    if (known !== undefined) return readSides(known, source);
    const read = this.#readOwn(context, prices).catch(ownFailure);
    const [sides] = await shared.share({ kind: 'sides', block, pools: [address] }, Promise.all([read]), writeSides);
    return sides ?? read;
  }

  async #readOwn(context: ReadContext, prices: PriceSnapshot): Promise<CurveSides> {
    const { velocity } = prices;
    const known = velocity && this.#known.get(velocity);
    if (known) return known;
    const found = await this.curve(context, prices);
    const sides = found ? { ...found.trading, curve: found.curve } : { bids: [], asks: [] };
    if (velocity) this.#known.set(velocity, sides);
    return sides;
  }

  /** Finds the curve of a pool, and the part that trades. Null unless the pool is healthy. Throws as {@link read}. */
  async curve(context: ReadContext, prices: PriceSnapshot): Promise<FoundCurve | null> {
    const { pool, curve: source, limits, stopLoss, simulated } = prices;
    if (!source) return null;
    const curve =
      typeof source === 'function'
        ? source()
        : await this.#inTime((signal) => this.#deps.searcher.find({ ...context, signal }, pool, source));
    return {
      curve,
      trading: withinTransfers(curve, await this.#withinGuards(context, { pool, curve, stopLoss, simulated }), limits),
    };
  }

  /** The part of a curve that the pool's guards let trade. */
  async #withinGuards(context: ReadContext, guarded: GuardedCurve): Promise<TradingSides> {
    const { bids, asks } = guarded.curve;
    const { kind } = guardPlan(guarded.pool);
    if (kind === 'none') return { bids: bids.levels, asks: asks.levels };
    if (kind === 'probed') {
      return this.#inTime((signal) => this.#deps.prober.probe({ ...context, signal }, guarded));
    }
    return this.#evaluate(context, guarded);
  }

  readonly #evaluate = batched((context: ReadContext, pools: readonly GuardedCurve[]) =>
    this.#inTime((signal) => this.#deps.prober.evaluate({ ...context, signal }, pools)),
  );

  #inTime<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withTimeLimit(this.#deps.readTimeoutMs, read);
  }
}
