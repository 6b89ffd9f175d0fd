import { type Hex, numberToHex } from 'viem';
import type { PoolImmutables } from '../../layout.ts';
import type { BinState, PoolState } from '../../pool-state.ts';
import { mappingSlots } from '../mapping-slots.ts';
import { wordReader } from './bit-fields.ts';

const BINS_MAPPING_SLOT = 4n;
const BIN_SHARES_MAPPING_SLOT = 5n;

const readSlot0 = wordReader({
  pauseLevel: { bits: 8 },
  curBin: { bits: 8, signed: true },
  posInBin: { bits: 104 },
  curBinDistE6: { bits: 24, signed: true },
  spreadFeeE6: { bits: 24 },
  notionalFeeE8: { bits: 24 },
});

const readBin = wordReader({
  token0Scaled: { bits: 104 },
  token1Scaled: { bits: 104 },
  lengthE6: { bits: 16 },
  addFeeBuyE6: { bits: 16 },
  addFeeSellE6: { bits: 16 },
});

/** What a pool's first slot says. */
export type Slot0 = Pick<PoolState, 'pauseLevel' | 'cursor' | 'spreadFeeE6' | 'notionalFeeE8'>;

export const flatBinSlot = mappingSlots(BINS_MAPPING_SLOT);
const flatBinSharesSlot = mappingSlots(BIN_SHARES_MAPPING_SLOT);
/** Slot 0, balances of all bins, uncollected notional fees, and the replaceable price provider. */
export const FLAT_HEAD_SLOTS: readonly Hex[] = [0, 1, 2, 3].map((slot) => numberToHex(slot, { size: 32 }));

export function decodeSlot0(word: Hex): Slot0 {
  const slot = readSlot0(word);
  return {
    pauseLevel: Number(slot.pauseLevel),
    cursor: { bin: Number(slot.curBin), position: slot.posInBin, lowerDistE6: Number(slot.curBinDistE6) },
    spreadFeeE6: Number(slot.spreadFeeE6),
    notionalFeeE8: Number(slot.notionalFeeE8),
  };
}

export function decodeBin(word: Hex): BinState {
  const bin = readBin(word);
  return {
    token0Scaled: bin.token0Scaled,
    token1Scaled: bin.token1Scaled,
    lengthE6: Number(bin.lengthE6),
    addFeeBuyE6: Number(bin.addFeeBuyE6),
    addFeeSellE6: Number(bin.addFeeSellE6),
  };
}

function stateSlots({ lowestBin, highestBin }: PoolImmutables): Hex[] {
  const bins = Array.from({ length: highestBin - lowestBin + 1 }, (_, index) => flatBinSlot(lowestBin + index));
  return [...FLAT_HEAD_SLOTS, ...bins];
}

function decodeState({ lowestBin, highestBin, scale }: PoolImmutables, words: readonly Hex[]): PoolState {
  const expected = FLAT_HEAD_SLOTS.length + highestBin - lowestBin + 1;
  const [slot0] = words;
  if (slot0 === undefined || words.length !== expected) {
    throw new RangeError(`expected ${expected} storage words, got ${words.length}`);
  }
  const bins = words.slice(FLAT_HEAD_SLOTS.length).map(decodeBin);
  return { lowestBin, highestBin, scale, ...decodeSlot0(slot0), bins };
}

/** How a pool of the flat layout is stored. */
export const flatStorage = {
  /** Slot of a bin's total shares: a plain uint256. */
  binSharesSlot: flatBinSharesSlot,
  /** Slots of everything `decodeState` needs: head, then every bin from lowest to highest. */
  stateSlots,
  /** @throws RangeError when there are not as many words as slots */
  decodeState,
};
