import { boundedCalls } from '../../chain/isolated-calls.ts';
import { type MulticallTarget, multicall } from '../../chain/multicall.ts';
import { timeIn } from '../../chain/pending-state.ts';
import type { ReadContext } from '../../chain/read-context.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import type { BoundedCall, CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { PoolSide } from '../../protocol/curve.ts';
import type { ExecutableLevels, TradingSides } from '../../protocol/depth.ts';
import { agreedLevels, type ConfirmedSide, cautiousClaim, confirmClaim } from '../../protocol/guards/side-claim.ts';
import { simulatedSwap } from '../../protocol/guards/simulated-swap.ts';
import type { Logger } from '../../runtime/logger.ts';
import { stopLossCalls } from '../calls/pool-calls.ts';
import type { SnapshotError } from '../snapshot-error.ts';
import type { SnapshotObserver } from '../snapshot-metrics.ts';
import { claimSwaps, type PoolClaim, poolClaim } from './pool-claim.ts';
import { asProbeError, type GuardedCurve, UnknownGuardProber } from './unknown-guard-prober.ts';

export interface GuardProberDeps {
  readonly target: MulticallTarget;
  readonly observer: Pick<Partial<SnapshotObserver>, 'guardsMismatched'>;
  readonly logUnknown: LogUnknownError;
  readonly logger: Pick<Logger, 'warn'>;
}

/** What the state of a pool's guards says, as far as simulated swaps confirm it. */
interface ConfirmedClaim extends Omit<PoolClaim, 'sides'> {
  readonly sides: readonly ConfirmedSide[];
}

const SILENCE: CallResult = { success: false, data: '0x' };

/**
 * Finds how far the guards of pools let each side trade.
 *
 * 1. Known guards: the end of each side is computed from their state, and simulated swaps confirm it.
 * 2. Sides whose computed end is rejected, and unknown extensions: swaps are simulated at points of the side.
 */
export class GuardProber {
  readonly #deps: GuardProberDeps;
  readonly #unknown: UnknownGuardProber;

  constructor(deps: GuardProberDeps) {
    this.#deps = deps;
    this.#unknown = new UnknownGuardProber(deps.target);
  }

  /**
   * Finds, in shared calls, how far pools trade whose guards are all known.
   *
   * @returns the sides in the order of the pools; an error for a pool whose own swaps could not be simulated
   * @throws RpcFailure when the nodes did not give the state of the guards, or simulated swaps on another part
   */
  async evaluate(context: ReadContext, pools: readonly GuardedCurve[]): Promise<(TradingSides | SnapshotError)[]> {
    const claims = await this.#claims(context, pools);
    const swaps = pools.map(({ pool }, index) => claimSwaps(pool.address, claims[index] ?? null));
    const known = pools.flatMap(({ simulated = [] }, index) =>
      (swaps[index] ?? []).map(({ data }) => simulated.find((each) => each.data === data)?.result),
    );
    const results = await this.#simulate(context, swaps.flat(), known);
    const confirmed = claims.map((claim) =>
      claim?.sides.map((side) => confirmClaim(side, results.splice(0, side.inputs.length))),
    );
    return Promise.all(
      pools.map(async (guarded, index) => {
        const sides = confirmed[index];
        if (!sides || sides.some(({ isContradicted }) => isContradicted)) {
          this.#deps.observer.guardsMismatched?.();
          const { address } = guarded.pool;
          this.#deps.logger.warn({ pool: address }, 'guards did not do what their state says: every bin is probed');
        }
        const agreed = sides
          ? this.#agreed(context, guarded, { stopLoss: claims[index]?.stopLoss ?? null, sides })
          : this.probe(context, guarded);
        return agreed.catch(asProbeError);
      }),
    );
  }

  /** Probes a pool with an unknown extension. @throws SnapshotError, OtherPart */
  probe(context: ReadContext, guarded: GuardedCurve): Promise<TradingSides> {
    return this.#unknown.probe(context, guarded);
  }

  /** Reads what the state of the guards says; null for a pool whose stop loss does not answer as one. */
  async #claims(context: ReadContext, pools: readonly GuardedCurve[]): Promise<(PoolClaim | null)[]> {
    const groups = pools.map(({ pool, stopLoss }) => (stopLoss ? [] : stopLossCalls(pool)));
    const requested = groups.filter((calls) => calls.length > 0);
    const read = await multicall(this.#deps.target, context, requested);
    return pools.map((guarded, index) => {
      const answers = groups[index]?.length ? read.shift() : guarded.stopLoss;
      return poolClaim(guarded, answers ?? [], timeIn(context.block));
    });
  }

  /** Gives both sides up to the last point at which the guards' state and the chain agree that they trade. */
  async #agreed(
    context: ReadContext,
    { pool: { address }, curve }: GuardedCurve,
    { stopLoss, sides: [bids, asks] }: ConfirmedClaim,
  ): Promise<TradingSides> {
    const levelsOf = async (side: PoolSide, confirmed: ConfirmedSide | undefined): Promise<ExecutableLevels> => {
      if (confirmed?.levels !== undefined) return confirmed.levels;
      const claim = cautiousClaim(side, stopLoss);
      const swaps = claim.inputs.map((amount) => simulatedSwap(address, side, amount, 'known'));
      return agreedLevels(claim, await this.#simulate(context, swaps));
    };
    const [ofBids, ofAsks] = await Promise.all([levelsOf(curve.bids, bids), levelsOf(curve.asks, asks)]);
    return { bids: ofBids, asks: ofAsks };
  }

  /**
   * Simulates swaps in order. A swap for which the node has too little gas fails without data.
   *
   * @param known the results of those that need not be simulated again, at the same places
   */
  async #simulate(
    context: ReadContext,
    swaps: readonly BoundedCall[],
    known: readonly (CallResult | undefined)[] = [],
  ): Promise<CallResult[]> {
    const groups = swaps.filter((_, index) => !known[index]).map((swap) => [swap]);
    const { answers } = await boundedCalls(this.#deps.target, context, groups);
    const results = swaps.map((_, index) => known[index] ?? answers.shift()?.results[0] ?? SILENCE);
    for (const [index, { target }] of swaps.entries()) this.#deps.logUnknown(target, results[index]);
    return results;
  }
}
