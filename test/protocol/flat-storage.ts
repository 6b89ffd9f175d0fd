import { type Address, type Hex, numberToHex } from 'viem';
import { flatStorage } from '../../protocol/layouts/flat/storage.ts';
import type { BinState, Slot0 } from '../../protocol/pool-state.ts';

/* Storage words of a flat pool that only tests write or read. */

/** Amounts of both tokens, scaled. */
export interface TokenPair {
  readonly token0Scaled: bigint;
  readonly token1Scaled: bigint;
}

/** What a pool's fixed slots say. */
interface PoolHead extends Slot0 {
  /** Balances of all bins together. */
  readonly binTotals: TokenPair;
  /** Accrued and not collected. */
  readonly notionalFees: TokenPair;
  /** The replaceable price provider; null when the provider is an immutable of the pool. */
  readonly mutablePriceProvider: Address | null;
}

/** @param words of `HEAD_SLOTS` */
export function decodeHead([slot0 = '0x', totals = '0x', fees = '0x', provider = '0x']: readonly Hex[]): PoolHead {
  const address = BigInt.asUintN(160, BigInt(provider));
  return {
    ...flatStorage.decodeSlot0(slot0),
    binTotals: decodePair(totals),
    notionalFees: decodePair(fees),
    mutablePriceProvider: address === 0n ? null : numberToHex(address, { size: 20 }),
  };
}

function decodePair(word: Hex): TokenPair {
  return { token0Scaled: BigInt.asUintN(128, BigInt(word)), token1Scaled: BigInt(word) >> 128n };
}

export function encodePair({ token0Scaled, token1Scaled }: TokenPair): Hex {
  return pack([128, token0Scaled], [128, token1Scaled]);
}

export function encodeSlot0({ pauseLevel, cursor, spreadFeeE6, notionalFeeE8 }: Slot0): Hex {
  return pack(
    [8, pauseLevel],
    [8, cursor.bin],
    [104, cursor.position],
    [24, cursor.lowerDistE6],
    [24, spreadFeeE6],
    [24, notionalFeeE8],
  );
}

export function encodeBin({ token0Scaled, token1Scaled, lengthE6, addFeeBuyE6, addFeeSellE6 }: BinState): Hex {
  return pack([104, token0Scaled], [104, token1Scaled], [16, lengthE6], [16, addFeeBuyE6], [16, addFeeSellE6]);
}

/** A word of these fields, from the lowest-order bits up, each cut to its width. */
function pack(...fields: readonly (readonly [bits: number, value: bigint | number])[]): Hex {
  let word = 0n;
  let offset = 0n;
  for (const [bits, value] of fields) {
    word |= BigInt.asUintN(bits, BigInt(value)) << offset;
    offset += BigInt(bits);
  }
  return numberToHex(word, { size: 32 });
}
