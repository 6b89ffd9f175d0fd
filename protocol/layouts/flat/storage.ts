import {
  type Address,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  parseAbiParameters,
} from 'viem';
import type { BinTotals, NotionalFees, PoolHead, StorageDuty } from '../../layout.ts';
import type { BinState, PoolImmutables, PoolState } from '../../pool-state.ts';
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

const readTokenPair = wordReader({ token0Scaled: { bits: 128 }, token1Scaled: { bits: 128 } });

const readBinWord = wordReader({
  token0Scaled: { bits: 104 },
  token1Scaled: { bits: 104 },
  lengthE6: { bits: 16 },
  addFeeBuyE6: { bits: 16 },
  addFeeSellE6: { bits: 16 },
});

type Slot0 = Pick<PoolHead, 'pauseLevel' | 'cursor' | 'spreadFeeE6' | 'notionalFeeE8'>;

const EXTSLOAD_ABI = parseAbi(['function extsload(bytes32[] slots) view returns (bytes32[])']);

/** Slot of a bin in a mapping keyed by int256, kept because a keccak costs more than the rest of a decode. */
function mappingSlots(mapping: bigint): (bin: number) => Hex {
  const known = new Map<number, Hex>();
  return (bin) => {
    const cached = known.get(bin);
    if (cached !== undefined) return cached;
    const slot = keccak256(encodeAbiParameters(parseAbiParameters('int256, uint256'), [BigInt(bin), mapping]));
    known.set(bin, slot);
    return slot;
  };
}

export const flatBinSlot = mappingSlots(BINS_MAPPING_SLOT);
export const flatBinSharesSlot = mappingSlots(BIN_SHARES_MAPPING_SLOT);
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

export function decodeBinTotals(word: Hex): BinTotals {
  return readTokenPair(word);
}

export function decodeNotionalFees(word: Hex): NotionalFees {
  return readTokenPair(word);
}

export function decodeBin(word: Hex): BinState {
  const bin = readBinWord(word);
  return {
    token0Scaled: bin.token0Scaled,
    token1Scaled: bin.token1Scaled,
    lengthE6: Number(bin.lengthE6),
    addFeeBuyE6: Number(bin.addFeeBuyE6),
    addFeeSellE6: Number(bin.addFeeSellE6),
  };
}

function decodeHead(words: readonly Hex[]): PoolHead {
  const [slot0, totals, fees, provider] = words;
  if (slot0 === undefined || totals === undefined || fees === undefined || provider === undefined) {
    throw new RangeError(`a pool's head takes ${FLAT_HEAD_SLOTS.length} words, got ${words.length}`);
  }
  return {
    ...decodeSlot0(slot0),
    binTotals: decodeBinTotals(totals),
    notionalFees: decodeNotionalFees(fees),
    mutablePriceProvider: addressOf(provider),
  };
}

function addressOf(word: Hex): Address | null {
  const address = BigInt.asUintN(160, BigInt(word));
  return address === 0n ? null : numberToHex(address, { size: 20 });
}

function stateSlots({ lowestBin, highestBin }: PoolImmutables): Hex[] {
  const bins = Array.from({ length: highestBin - lowestBin + 1 }, (_, index) => flatBinSlot(lowestBin + index));
  return [...FLAT_HEAD_SLOTS, ...bins];
}

function decodeState(immutables: PoolImmutables, words: readonly Hex[]): { head: PoolHead; state: PoolState } {
  const binCount = immutables.highestBin - immutables.lowestBin + 1;
  if (words.length !== FLAT_HEAD_SLOTS.length + binCount) {
    throw new RangeError(`expected ${FLAT_HEAD_SLOTS.length + binCount} storage words, got ${words.length}`);
  }
  const head = decodeHead(words.slice(0, FLAT_HEAD_SLOTS.length));
  const { pauseLevel, cursor, spreadFeeE6, notionalFeeE8 } = head;
  const bins = words.slice(FLAT_HEAD_SLOTS.length).map(decodeBin);
  const { lowestBin, highestBin, scale } = immutables;
  return {
    head,
    state: { lowestBin, highestBin, scale, pauseLevel, cursor, spreadFeeE6, notionalFeeE8, bins },
  };
}

/** How a pool of the flat layout is stored. */
export const flatStorage: StorageDuty = {
  headSlots: FLAT_HEAD_SLOTS,
  decodeHead,
  binSlot: flatBinSlot,
  decodeBin,
  binSharesSlot: flatBinSharesSlot,
  encodeExtsload: (slots) => encodeFunctionData({ abi: EXTSLOAD_ABI, args: [slots] }),
  decodeExtsload: (result) => decodeFunctionResult({ abi: EXTSLOAD_ABI, data: result }),
  stateSlots,
  decodeState,
};
