import { binAt, MAX_POSITION } from '../../pool-state.ts';
import type { BinSlice } from './bin-fill.ts';
import { binEdges, buyFeeX64, type PricedPool, sellFeeX64 } from './geometry.ts';

/** A bin as a swap in one direction meets it. */
export interface NumberedSlice extends BinSlice {
  readonly bin: number;
}

/** Bins from the cursor outwards, as a swap meets them. Ends where prices reach zero: nothing can trade there. */
export function slicesFromCursor(priced: PricedPool, zeroForOne: boolean): NumberedSlice[] {
  const { cursor, lowestBin, highestBin } = priced.state;
  const slices: NumberedSlice[] = [];
  const step = zeroForOne ? -1 : 1;
  for (let bin = cursor.bin; bin >= lowestBin && bin <= highestBin; bin += step) {
    const edges = binEdges(priced, bin);
    if (edges.lowerX64 === 0n) break;
    const farStart = zeroForOne ? MAX_POSITION : 0n;
    slices.push({
      bin,
      zeroForOne,
      edges,
      position: bin === cursor.bin ? cursor.position : farStart,
      ...sideOf(priced, bin, zeroForOne),
    });
  }
  return slices;
}

function sideOf(
  { state, frame }: PricedPool,
  bin: number,
  zeroForOne: boolean,
): Pick<BinSlice, 'available' | 'feeX64'> {
  const content = binAt(state, bin);
  return zeroForOne
    ? { available: content.token1Scaled, feeX64: sellFeeX64(frame, content) }
    : { available: content.token0Scaled, feeX64: buyFeeX64(frame, content) };
}
