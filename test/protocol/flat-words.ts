import { type Hex, numberToHex } from 'viem';
import type { BinTotals, NotionalFees, PoolHead } from '../../protocol/layout.ts';
import type { BinState } from '../../protocol/pool-state.ts';

/* Storage words of a flat pool, written as Solidity packs them. */

export function encodeSlot0({
  pauseLevel,
  cursor,
  spreadFeeE6,
  notionalFeeE8,
}: Pick<PoolHead, 'pauseLevel' | 'cursor' | 'spreadFeeE6' | 'notionalFeeE8'>): Hex {
  return packWord(
    [8, pauseLevel],
    [8, cursor.bin],
    [104, cursor.position],
    [24, cursor.lowerDistE6],
    [24, spreadFeeE6],
    [24, notionalFeeE8],
  );
}

/** Bin totals, or notional fees. */
export function encodeTokenPair({ token0Scaled, token1Scaled }: BinTotals | NotionalFees): Hex {
  return packWord([128, token0Scaled], [128, token1Scaled]);
}

export function encodeBin({ token0Scaled, token1Scaled, lengthE6, addFeeBuyE6, addFeeSellE6 }: BinState): Hex {
  return packWord([104, token0Scaled], [104, token1Scaled], [16, lengthE6], [16, addFeeBuyE6], [16, addFeeSellE6]);
}

/** From the lowest-order bits up; a value is cut to its width. */
function packWord(...fields: readonly (readonly [bits: number, value: bigint | number])[]): Hex {
  let word = 0n;
  let offset = 0n;
  for (const [bits, value] of fields) {
    word |= BigInt.asUintN(bits, BigInt(value)) << offset;
    offset += BigInt(bits);
  }
  return numberToHex(word, { size: 32 });
}
