import type { WalkLevel } from '../fill-walk.ts';
import type { TradeType } from './fill-curve.ts';
import type { GraphPool } from './graph.ts';

/*
 * What is known of pools before they are read. Amounts are floating-point numbers: they choose what is read and never
 * reach a plan.
 */

/** Input and output of one direction up to some points from the cursor outward, raw units, both increasing. */
export interface DepthEstimate {
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** A pool in one direction that a plan may use. */
export interface PoolCandidate<P extends GraphPool = GraphPool> {
  readonly pool: P;
  readonly zeroForOne: boolean;
  /** Null when nothing is known. */
  readonly estimate: DepthEstimate | null;
  /** Whether the last snapshot showed the estimate as executable. Otherwise it comes from balances and prices. */
  readonly isObserved: boolean;
  /** 0 to 4, the best is highest. */
  readonly tierRank: number;
  /** How many of a request's reads the pool takes. */
  readonly cost: number;
}

/** An order to compare candidates for: the fixed amount in raw units, as a floating-point number. */
export interface RoughOrder {
  readonly tradeType: TradeType;
  readonly amount: number;
}

/** Makes an estimate from few points of a side: level 0, 1, 3, 7 and so on, and the last one. */
export function estimateDepth(side: readonly WalkLevel[]): DepthEstimate {
  const points = side.filter(
    ({ cumulativeInput, cumulativeOutput }, index) =>
      ((index & (index + 1)) === 0 || index === side.length - 1) && cumulativeInput > 0n && cumulativeOutput > 0n,
  );
  return {
    inputs: points.map(({ cumulativeInput }) => Number(cumulativeInput)),
    outputs: points.map(({ cumulativeOutput }) => Number(cumulativeOutput)),
  };
}

/** What a path takes of an order, and what that leads to. */
interface RoughFill {
  readonly specified: number;
  readonly computed: number;
}

/** Walks the estimates of a path, near first, each as far as it goes. */
export function walkEstimates(path: readonly (DepthEstimate | null)[], { tradeType, amount }: RoughOrder): RoughFill {
  let [specified, computed] = [amount, amount];
  for (const estimate of path) {
    const leg = estimate ? walkEstimate(estimate, tradeType, computed) : { specified: 0, computed: 0 };
    specified = computed > 0 ? specified * (leg.specified / computed) : 0;
    computed = leg.computed;
  }
  return { specified, computed };
}

function walkEstimate({ inputs, outputs }: DepthEstimate, tradeType: TradeType, amount: number): RoughFill {
  const [from, to] = tradeType === 'exact_in' ? [inputs, outputs] : [outputs, inputs];
  let [start, startComputed] = [0, 0];
  for (let index = 0; index < from.length; index++) {
    const [end, endComputed] = [from[index] as number, to[index] as number];
    if (amount <= end) {
      const part = end > start ? (amount - start) / (end - start) : 1;
      return { specified: amount, computed: startComputed + (endComputed - startComputed) * part };
    }
    [start, startComputed] = [end, endComputed];
  }
  return { specified: start, computed: startComputed };
}

/** Values what a path gives for an order, to compare it with other paths: more is better, 0 is nothing. */
export function pathValue(path: readonly (DepthEstimate | null)[], order: RoughOrder): number {
  const { specified, computed } = walkEstimates(path, order);
  if (!(computed > 0)) return 0;
  // For an exact output, the amount that is covered times its price, as `computed` is for an exact input.
  return order.tradeType === 'exact_in' ? computed : specified * (specified / computed);
}
