import { divCeil, E8, isqrtFloor, maxBigint, mulDivFloor, Q64 } from '../../protocol/fixed-point.ts';
import { type BinSlice, chargedPrice, fillExactOutput, fillWhole } from '../../protocol/layouts/bin-fill.ts';
import type { SideCurve } from '../../protocol/layouts/side-curve.ts';

const PRECISION = 1n << 96n;

/**
 * Output, scaled units, of an exact input by a pool that solves the quadratic of the bin where the input ends and takes
 * back what the excess buys when that costs too much: less than the most that the input pays for.
 */
export function closedFormOutput(side: SideCurve, input: bigint): bigint {
  let left = input;
  let output = 0n;
  for (const { slice } of side.steps) {
    const whole = fillWhole(slice);
    if (whole.input > left) {
      output += outputInside(slice, left);
      break;
    }
    left -= whole.input;
    output += whole.output;
  }
  return output - mulDivFloor(output, BigInt(side.fees.endFeeE8), E8);
}

function outputInside(slice: BinSlice, input: bigint): bigint {
  const solved = solve(slice, mulDivFloor(input, Q64, slice.charge.factorX64));
  const { zeroForOne, edges, position } = slice;
  const excess = (output: bigint) => fillExactOutput(slice, output).input - input;
  if (excess(solved) <= 0n) return solved;
  const price = chargedPrice({ ...slice, edges, charge: { on: 'net', factorX64: Q64 } }, position);
  const worth = (paid: bigint) => (zeroForOne ? divCeil(paid * price, Q64) : divCeil(paid * Q64, price));
  const corrected = maxBigint(solved - worth(excess(solved)), 0n);
  return excess(corrected) <= 0n ? corrected : maxBigint(corrected - worth(excess(corrected)), 0n);
}

/**
 * Output by the bin's curve, prices as numbers without a unit: sales cost the mean of the inverse prices at both ends.
 */
function solve({ zeroForOne, edges, position, available }: BinSlice, net: bigint): bigint {
  const M = (1n << 104n) - 1n;
  const start = (edges.lowerX64 * (M - position) + edges.upperX64 * position) * PRECISION;
  const price = start / M;
  const unit = Q64 * PRECISION;
  if (!zeroForOne) {
    const slope = edges.upperX64 * PRECISION - price;
    const root = isqrtFloor(price * price + (2n * slope * net * unit) / available) + 1n;
    return (2n * net * unit) / (price + root);
  }
  const far = edges.lowerX64 * PRECISION;
  const bend = ((price - far) * net * PRECISION) / (available * unit);
  const root = isqrtFloor(PRECISION * PRECISION + bend * bend) + 1n;
  return (2n * net * price * PRECISION) / (unit * (PRECISION + bend + root));
}
