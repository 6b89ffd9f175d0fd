import type { SwapAmounts } from '../../curve.ts';
import type { SearchChain } from '../../curve-search.ts';
import { E8, maxBigint } from '../../fixed-point.ts';
import { swapAmounts } from '../../pool-errors.ts';
import { decodeWalk, encodeWalk, type WalkRecord } from '../../simulated-walk/simulated-walk.ts';
import { placeEdges, type SimulateAll } from './place-edges.ts';
import {
  emptyingInput,
  type Pairs,
  planWalk,
  type WalkedPool,
  type WalkedSide,
  walkedSide,
  wholeOutput,
} from './walk-plan.ts';

/** What simulated swaps show of a side. */
export interface FoundSide {
  readonly side: WalkedSide;
  /** The pool's own price. */
  readonly bestX64: bigint;
  /** Up to the last edge before the first swap that was rejected. */
  readonly pairs: Pairs;
  /** What exact inputs took and gave there, where pairs are lowered: they show prices. */
  readonly measured?: Pairs;
}

const NOTHING: SwapAmounts = { amountIn: 0n, amountOut: 0n };

/** Most calls of a walk, which then ends where it is: a side of a hundred bins takes four. */
const MAX_CALLS = 6;

/**
 * Finds a side of a pool by simulated swaps alone: every pair is what an exact input takes and gives on the chain at
 * that block. Where extensions reject swaps, the side ends at the last edge before.
 *
 * @param bestX64 the pool's own price
 */
export async function walkSide(
  chain: Pick<SearchChain, 'program'>,
  pool: WalkedPool,
  zeroForOne: boolean,
  bestX64: bigint,
): Promise<FoundSide> {
  const side = walkedSide(pool, zeroForOne);
  const whole = wholeOutput(side);
  if (whole === 0n) return { side, bestX64, pairs: new Map() };
  const edges = [...new Set(side.edges)].filter((edge) => edge > 0n);
  const simulate: SimulateAll = (amounts, least) => simulateAll(chain, side, amounts, least);
  const before = edges.slice(0, -1).map((edge) => -edge);
  const first = await simulate([...before, emptyingInput(side), -whole], before.length + 1);
  // Where a pool keeps a part of the output, its bins may hold too little for an exact output to their last edges.
  const isShort = first.at(-1)?.outcome === 'tooLarge' && first.every(({ amount }) => amount < 0n);
  const records = isShort ? [...first, ...(await simulate([emptyingInput(side)]))] : first;
  const outputs = filledOutputs(side, records);
  const emptied = emptyingFill(side, records);
  if (emptied === null) return { side, bestX64, pairs: await byInputs(simulate, side, inputsOf(side, outputs)) };
  const cost = records.some(({ amount }) => amount === -whole) ? outputs.get(whole)?.amountIn : emptied.amountIn;
  if (cost === undefined || isCheaper(cost, emptied, whole))
    return { side, bestX64, ...(await placeEdges(simulate, side, outputs, emptied)) };
  const end = { amountIn: maxBigint(cost, emptied.amountIn), amountOut: whole };
  return { side, bestX64, pairs: new Map([...certain(outputs), [whole, end]]) };
}

/**
 * Whether an exact output of a whole side costs less than an exact input pays for it, by more than raw units explain.
 */
const isCheaper = (cost: bigint, emptied: SwapAmounts, whole: bigint): boolean =>
  emptied.amountOut < whole || (emptied.amountIn - cost - 1n) * whole > 2n * emptied.amountIn;

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
 * Turns pairs of exact outputs into what an exact input of the same amount surely gives: a unit less, which roundings
 * on the way may cost. A pair of a single unit becomes nothing.
 */
function certain(outputs: Pairs): Pairs {
  const pairs = [...outputs].map(([output, { amountIn, amountOut }]) => {
    return [output, amountOut > 1n ? { amountIn, amountOut: amountOut - 1n } : NOTHING] as const;
  });
  return new Map(pairs);
}

const pairOf = ({ bare }: WalkedSide, { fill }: WalkRecord): SwapAmounts | null =>
  fill && swapAmounts(bare.zeroForOne, fill);

/**
 * Chooses exact inputs for the edges that exact outputs reached, by output, on a side whose end is rejected. The pool
 * may charge the notional fee on exact outputs alone. Inputs are a unit shorter: an exact input can touch the bin
 * behind the one that it empties.
 */
function inputsOf(side: WalkedSide, outputs: Pairs): ReadonlyMap<bigint, bigint> {
  const fee = BigInt(side.bare.priced.state.notionalFeeE8);
  return new Map([...outputs].map(([output, { amountIn }]) => [output, (amountIn * E8) / (E8 + fee) - 1n] as const));
}

/** Simulates exact inputs and gives their pairs, by the outputs that the inputs stand for. */
async function byInputs(simulate: SimulateAll, side: WalkedSide, inputs: ReadonlyMap<bigint, bigint>): Promise<Pairs> {
  const requested = [...new Set(inputs.values())].filter((input) => input > 0n).sort((a, b) => (a < b ? -1 : 1));
  const records = await simulate(requested);
  const fills = new Map(records.map((record) => [record.amount, pairOf(side, record) ?? nothingFor(record)]));
  const pairs = [...inputs].flatMap(([output, input]) => {
    const pair = fills.get(input);
    return pair ? [[output, pair] as const] : [];
  });
  return new Map(pairs);
}

/** The pair of an exact input that buys less than a unit, for a pool that rejects such swaps. */
const nothingFor = ({ amount, outcome }: WalkRecord): SwapAmounts | null =>
  outcome === 'tooSmall' ? { amountIn: amount, amountOut: 0n } : null;

/** Simulates ever larger swaps up to the first that is rejected, in as many calls as their gas takes, up to a limit. */
async function simulateAll(
  chain: Pick<SearchChain, 'program'>,
  side: WalkedSide,
  amounts: readonly bigint[],
  least = amounts.length,
): Promise<readonly WalkRecord[]> {
  const records: WalkRecord[] = [];
  for (let call = 0; call < MAX_CALLS && records.length < least; call++) {
    const walk = planWalk(side, amounts.slice(records.length));
    const answer = decodeWalk(await chain.program(encodeWalk(walk), side.of.silenced));
    records.push(...answer.records);
    if (answer.done || answer.records.length === 0) break;
  }
  return records;
}
