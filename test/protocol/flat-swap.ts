import { E8, mulDivFloor } from '../../protocol/fixed-point.ts';
import {
  type BinFill,
  type BinSlice,
  fillExactInput,
  fillExactOutput,
  fillWhole,
} from '../../protocol/layouts/bin-fill.ts';
import { sideCurve } from '../../protocol/layouts/flat/geometry.ts';
import type { PricedPool } from '../../protocol/layouts/ladder.ts';
import { MAX_POSITION, type PoolState } from '../../protocol/pool-state.ts';
import { toRawCeil, toRawFloor, toScaled } from '../../protocol/scaling.ts';

/** A swap without a price limit. Amounts are raw units. */
export interface SwapRequest {
  readonly zeroForOne: boolean;
  readonly kind: 'exactInput' | 'exactOutput';
  readonly amount: bigint;
}

/** What the pool does with a request: it fills what it can. */
export interface SwapResult {
  /** Raw units. */
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** Cursor after the swap. */
  readonly bin: number;
  readonly position: bigint;
  /** Bins that gave something, in order; scaled units. */
  readonly fills: readonly (BinFill & { readonly bin: number })[];
}

/** A pool's own arithmetic, unit for unit, for one swap at these prices. */
export function computeSwap(priced: PricedPool, request: SwapRequest): SwapResult {
  const { state } = priced;
  const { zeroForOne, kind } = request;
  const { multiplier0, multiplier1 } = state.scale;
  const [inputMultiplier, outputMultiplier] = zeroForOne ? [multiplier0, multiplier1] : [multiplier1, multiplier0];
  const amountScaled = toScaled(request.amount, kind === 'exactInput' ? inputMultiplier : outputMultiplier);
  const walk = walkBins(priced, request, amountScaled);
  const total = (amountOf: (fill: BinFill) => bigint) => walk.fills.reduce((sum, fill) => sum + amountOf(fill), 0n);
  const notionalFee = (base: bigint) => mulDivFloor(base, BigInt(state.notionalFeeE8), E8);
  const output = total((fill) => fill.output);
  const input = total((fill) => fill.input);
  const amounts =
    kind === 'exactInput'
      ? { input, output: output - notionalFee(output) }
      : { input: input + notionalFee(total((fill) => fill.net)), output };
  return {
    ...walk,
    amountIn: toRawCeil(amounts.input, inputMultiplier),
    amountOut: toRawFloor(amounts.output, outputMultiplier),
  };
}

function walkBins(
  priced: PricedPool,
  { zeroForOne, kind }: SwapRequest,
  amountScaled: bigint,
): Pick<SwapResult, 'bin' | 'position' | 'fills'> {
  const fills: (BinFill & { bin: number })[] = [];
  let remaining = amountScaled;
  let end: { bin: number; position: bigint } = priced.state.cursor;
  for (const slice of sideCurve(priced, zeroForOne).steps.map((step) => step.slice)) {
    if (remaining === 0n) break;
    const fill = kind === 'exactInput' ? fillExactInput(slice, remaining) : fillUpTo(slice, remaining);
    remaining -= kind === 'exactInput' ? fill.input : fill.output;
    end = { bin: slice.bin, position: fill.position };
    if (fill.input > 0n) fills.push({ bin: slice.bin, ...fill });
  }
  return { ...cursorAfter(priced.state, zeroForOne, end), fills };
}

function fillUpTo(slice: BinSlice, output: bigint): BinFill {
  return output >= slice.available ? fillWhole(slice) : fillExactOutput(slice, output);
}

/** A swap that ends exactly at the far edge of a bin moves into the next one, if there is one. */
function cursorAfter(
  { lowestBin, highestBin }: PoolState,
  zeroForOne: boolean,
  end: { bin: number; position: bigint },
) {
  if (zeroForOne && end.position === 0n && end.bin > lowestBin) return { bin: end.bin - 1, position: MAX_POSITION };
  if (!zeroForOne && end.position === MAX_POSITION && end.bin < highestBin) return { bin: end.bin + 1, position: 0n };
  return end;
}
