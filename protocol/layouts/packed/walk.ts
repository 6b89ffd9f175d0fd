import type { Address, Hex } from 'viem';
import { CALL_GAS_CAP } from '../../bounded-calls/bounded-calls.ts';
import { isRejection, type SellAndBuyPrices } from '../../curve.ts';
import { E8, maxBigint } from '../../fixed-point.ts';
import type { ExecutableLevels } from '../../guards/side-claim.ts';
import {
  decodeWalk,
  encodeWalk,
  restOfWalk,
  type SideWalk,
  type WalkRecord,
} from '../../simulated-walk/simulated-walk.ts';
import type { SwapAmounts } from '../side-curve.ts';
import { walkedLevels } from './walk-levels.ts';
import {
  emptyingInput,
  planInputs,
  planWalk,
  type WalkedPool,
  type WalkedSide,
  walkedSide,
  wholeOutput,
} from './walk-plan.ts';

/** A program to run in one `eth_call` at the block of the pool's state, and what follows from its answer. */
export interface ProgramStep<S> {
  readonly kind: 'program';
  readonly data: Hex;
  readonly gas: bigint;
  readonly silenced: readonly Address[];
  /** @throws Error when this is no answer of the program */
  next(answer: Hex): ProgramStep<S> | S;
}

type Step<S> = ProgramStep<S> | S;

/** What the pool took and gave, by the exact output at which a bin or the side ends, raw units. */
export type Pairs = ReadonlyMap<bigint, SwapAmounts>;

/** What simulated swaps found of a side. */
export interface FoundSide {
  readonly side: WalkedSide;
  /** The pool's own price. */
  readonly bestX64: bigint;
  readonly pairs: Pairs;
  /** Null when nothing trades. */
  readonly levels: ExecutableLevels;
  /** Whether a swap emptied the side. */
  readonly isWhole: boolean;
}

const NOTHING: SwapAmounts = { amountIn: 0n, amountOut: 0n };

/** Calls after which a walk ends where it is: a side of a hundred bins takes four. */
const MOST_CALLS = 6;

/**
 * Finds both sides of a pool by simulated swaps alone, one side after the other: every level is a pair that an exact input
 * takes and gives on the chain at that block. Guards are asked on the way: a side ends at the last point that fills before
 * the first that does not.
 *
 * @param prices the pool's own
 */
export function walkSides<S>(
  pool: WalkedPool,
  prices: SellAndBuyPrices,
  then: (bids: FoundSide, asks: FoundSide) => S,
): Step<S> {
  return walkSide(walkedSide(pool, true), prices.sellX64, (bids) =>
    walkSide(walkedSide(pool, false), prices.buyX64, (asks) => then(bids, asks)),
  );
}

function walkSide<S>(side: WalkedSide, bestX64: bigint, then: (found: FoundSide) => Step<S>): Step<S> {
  const whole = wholeOutput(side);
  const finish = (pairs: Pairs, isWhole: boolean, isClosed = false) => {
    return then({ side, bestX64, pairs, levels: isClosed ? null : walkedLevels(side, pairs, bestX64), isWhole });
  };
  if (whole === 0n) return finish(new Map(), true);
  return run(side, planWalk(side), MOST_CALLS, (records) => {
    const outputs = filledOutputs(side, records);
    const emptied = emptyingFill(side, records);
    if (isClosedBy(records)) return finish(new Map(), false, true);
    if (emptied === null) return cutSide(side, outputs, (pairs) => finish(pairs, false));
    const end: Pairs = new Map([[whole, emptied]]);
    if (emptied.amountOut === whole) return finish(new Map([...certain(outputs), ...end]), true);
    return byInputs(side, inputsBefore(side, outputs, emptied), (pairs) => finish(new Map([...pairs, ...end]), true));
  });
}

/** Nothing fills, and not since the amounts were wrong. */
function isClosedBy(records: readonly WalkRecord[]): boolean {
  const hasFill = records.some(({ fill }) => fill !== null);
  return !hasFill && (records.length === 0 || records.some(({ outcome }) => isRejection(outcome)));
}

/** What the pool took and gave when it was emptied; null when it was not. */
function emptyingFill(side: WalkedSide, records: readonly WalkRecord[]): SwapAmounts | null {
  const record = records.find(({ amount }) => amount > 0n);
  const pair = record ? pairOf(side, record) : null;
  const isEmptied = pair?.amountOut === wholeOutput(side) || (pair && pair.amountIn < emptyingInput(side));
  return isEmptied ? pair : null;
}

/** What exact outputs took, by output. */
function filledOutputs(side: WalkedSide, records: readonly WalkRecord[]): Pairs {
  const pairs = records.flatMap((record) => {
    const pair = pairOf(side, record);
    return pair?.amountOut === -record.amount ? [[pair.amountOut, pair] as const] : [];
  });
  return new Map(pairs);
}

/**
 * Pairs of exact outputs as an exact input of the same amount surely gives them: what pools round on the way may be worth a
 * unit. A single unit is none.
 */
function certain(outputs: Pairs): Pairs {
  const pairs = [...outputs].map(([output, { amountIn, amountOut }]) => {
    return [output, amountOut > 1n ? { amountIn, amountOut: amountOut - 1n } : NOTHING] as const;
  });
  return new Map(pairs);
}

function pairOf({ bare }: WalkedSide, { fill }: WalkRecord): SwapAmounts | null {
  if (!fill) return null;
  return bare.zeroForOne
    ? { amountIn: fill.amount0Delta, amountOut: -fill.amount1Delta }
    : { amountIn: fill.amount1Delta, amountOut: -fill.amount0Delta };
}

/**
 * Exact inputs for the edges before the last of a pool that keeps a part of what exact inputs give, and takes as much more
 * of exact outputs. They end short of the edges by that part of the bins' own fees.
 */
function inputsBefore(side: WalkedSide, outputs: Pairs, emptied: SwapAmounts): Map<bigint, bigint> {
  const whole = wholeOutput(side);
  const edges = [...outputs].filter(([output]) => output < whole && side.edges.includes(output));
  const input = (amountIn: bigint) => maxBigint((amountIn * whole) / (2n * whole - emptied.amountOut), 1n);
  return new Map(edges.map(([output, { amountIn }]) => [output, input(amountIn)] as const));
}

/**
 * A side that ends before its last edge. An exact input can touch the bin behind the one that it empties, so that the end
 * is an exact input a unit short. Where there is a notional fee it is not known whether exact inputs pay it as exact
 * outputs do: every edge is asked again, and the end is short by that fee.
 */
function cutSide<S>(side: WalkedSide, outputs: Pairs, finish: (pairs: Pairs) => Step<S>): Step<S> {
  const fee = BigInt(side.bare.priced.state.notionalFeeE8);
  const last = [...outputs.keys()].reduce(maxBigint, 0n);
  const end = ((outputs.get(last)?.amountIn ?? 0n) * E8) / (E8 + fee) - 1n;
  const edges = [...outputs].filter(([output]) => output < last && side.edges.includes(output));
  const asked = fee === 0n ? [] : edges.map(([output, { amountIn }]) => [output, amountIn] as const);
  return byInputs(side, new Map([...asked, [last, end]]), (pairs) => {
    return finish(fee === 0n ? new Map([...certain(new Map(edges)), ...pairs]) : pairs);
  });
}

/** Simulates exact inputs, by the outputs that they stand for, and gives their pairs. */
function byInputs<S>(side: WalkedSide, inputs: ReadonlyMap<bigint, bigint>, then: (pairs: Pairs) => Step<S>): Step<S> {
  const asked = [...new Set(inputs.values())].filter((input) => input > 0n).sort((a, b) => (a < b ? -1 : 1));
  if (asked.length === 0) return then(new Map());
  return run(side, planInputs(side, asked), MOST_CALLS, (records) => {
    const fills = new Map(records.map((record) => [record.amount, pairOf(side, record) ?? nothingFor(record)]));
    const pairs = [...inputs].flatMap(([output, input]) => {
      const pair = fills.get(input);
      return pair ? [[output, pair] as const] : [];
    });
    return then(new Map(pairs));
  });
}

/** The pair of an exact input that buys less than a unit, where a pool rejects such. */
const nothingFor = ({ amount, outcome }: WalkRecord): SwapAmounts | null =>
  outcome === 'tooSmall' ? { amountIn: amount, amountOut: 0n } : null;

/** Runs a walk in as many calls as its gas takes, but for a limit. */
function run<S>(
  side: WalkedSide,
  walk: SideWalk,
  calls: number,
  then: (records: readonly WalkRecord[]) => Step<S>,
): Step<S> {
  return {
    kind: 'program',
    data: encodeWalk(walk),
    gas: CALL_GAS_CAP,
    silenced: side.of.silenced,
    next(answer) {
      const decoded = decodeWalk(answer);
      const { done, records } = decoded;
      if (done || calls === 1 || records.length === 0) return then(records);
      return run(side, restOfWalk(walk, decoded), calls - 1, (rest) => then([...records, ...rest]));
    },
  };
}
