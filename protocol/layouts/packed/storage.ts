import { type Address, type Hex, numberToHex } from 'viem';
import type { PoolImmutables } from '../../layout.ts';
import type { BinState, Cursor, PoolState } from '../../pool-state.ts';
import { mappingSlots } from '../mapping-slots.ts';
import { hexReader, unsignedHalves, type WordShape } from './words.ts';

/** Where a pool keeps what. Slots 1, 2 and 3, which hold whole words, are the same in all. */
export interface StorageArrangement {
  readonly head: WordShape<
    'pauseLevel' | 'curBin' | 'posInBin' | 'curBinDistE6' | 'spreadFeeE6' | 'notionalFeeE8' | 'asymmetryX8'
  >;
  readonly bin: WordShape<'token0Scaled' | 'token1Scaled' | 'lengthE6' | 'addFeeBuyE6' | 'addFeeSellE6'>;
  /** Slots of the mappings by bin: words of bins, and their total shares. */
  readonly binsSlot: bigint;
  readonly binSharesSlot: bigint;
}

/** Scaled amounts of both tokens. */
export interface TokenPair {
  readonly token0Scaled: bigint;
  readonly token1Scaled: bigint;
}

/** What a pool's fixed slots say. */
export interface PoolHead {
  readonly pauseLevel: number;
  readonly cursor: Cursor;
  readonly spreadFeeE6: number;
  readonly notionalFeeE8: number;
  /** A setting whose effect is not public. */
  readonly asymmetryX8: number;
  /** Balances of all bins together. */
  readonly binTotals: TokenPair;
  /** Notional fees accrued and not collected. */
  readonly notionalFees: TokenPair;
  /** The replaceable price provider; null when the provider is an immutable of the pool. */
  readonly mutablePriceProvider: Address | null;
}

export interface PackedStorage {
  /** Slot of a bin's word. */
  binSlot(bin: number): Hex;
  /** Slot of a bin's total shares: a plain uint256. */
  binSharesSlot(bin: number): Hex;
  decodeBin(word: Hex): BinState;
  /** @param words of {@link HEAD_SLOTS} */
  decodeHead(words: readonly Hex[]): PoolHead;
  /** Slots of everything `decodeState` needs: head, then every bin from lowest to highest. */
  stateSlots(immutables: PoolImmutables): Hex[];
  /** @throws RangeError when the words are not those of `stateSlots` */
  decodeState(
    immutables: PoolImmutables,
    words: readonly Hex[],
  ): { readonly head: PoolHead; readonly state: PoolState };
}

const ADDRESS_BITS = 160;

export const HEAD_SLOTS: readonly Hex[] = [0, 1, 2, 3].map((slot) => numberToHex(slot, { size: 32 }));

/** How pools of an arrangement are stored. Make it once: it remembers the slots of bins. */
export function packedStorage(arrangement: StorageArrangement): PackedStorage {
  const binSlot = mappingSlots(arrangement.binsSlot);
  const readBin = hexReader(arrangement.bin);
  const readSlot0 = hexReader(arrangement.head);
  const decodeBin = (word: Hex): BinState => {
    const { token0Scaled, token1Scaled, ...shape } = readBin(word);
    return {
      token0Scaled,
      token1Scaled,
      lengthE6: Number(shape.lengthE6),
      addFeeBuyE6: Number(shape.addFeeBuyE6),
      addFeeSellE6: Number(shape.addFeeSellE6),
    };
  };
  const stateSlots = ({ lowestBin, highestBin }: PoolImmutables): Hex[] => [
    ...HEAD_SLOTS,
    ...Array.from({ length: highestBin - lowestBin + 1 }, (_, index) => binSlot(lowestBin + index)),
  ];
  const decodeHead = (words: readonly Hex[]) => headOf(readSlot0, words);
  return {
    binSlot,
    binSharesSlot: mappingSlots(arrangement.binSharesSlot),
    decodeBin,
    decodeHead,
    stateSlots,
    decodeState(immutables, words) {
      const expected = HEAD_SLOTS.length + immutables.highestBin - immutables.lowestBin + 1;
      if (words.length !== expected) throw new RangeError(`expected ${expected} storage words, got ${words.length}`);
      const head = decodeHead(words.slice(0, HEAD_SLOTS.length));
      const { lowestBin, highestBin, scale } = immutables;
      const { pauseLevel, cursor, spreadFeeE6, notionalFeeE8 } = head;
      const bins = words.slice(HEAD_SLOTS.length).map(decodeBin);
      return {
        head,
        state: { lowestBin, highestBin, scale, pauseLevel, cursor, spreadFeeE6, notionalFeeE8, bins },
      };
    },
  };
}

function headOf(
  readSlot0: (word: Hex) => Record<keyof StorageArrangement['head'], bigint>,
  words: readonly Hex[],
): PoolHead {
  const [slot0, totals, fees, provider] = words;
  if (slot0 === undefined || totals === undefined || fees === undefined || provider === undefined) {
    throw new RangeError(`a pool's head takes ${HEAD_SLOTS.length} words, got ${words.length}`);
  }
  const slot = readSlot0(slot0);
  return {
    pauseLevel: Number(slot.pauseLevel),
    cursor: { bin: Number(slot.curBin), position: slot.posInBin, lowerDistE6: Number(slot.curBinDistE6) },
    spreadFeeE6: Number(slot.spreadFeeE6),
    notionalFeeE8: Number(slot.notionalFeeE8),
    asymmetryX8: Number(slot.asymmetryX8),
    binTotals: tokenPair(BigInt(totals)),
    notionalFees: tokenPair(BigInt(fees)),
    mutablePriceProvider: addressOf(BigInt(provider)),
  };
}

/** As Solidity packs two uint128: token0 in the low half. Event words are the other way round. */
function tokenPair(word: bigint): TokenPair {
  const { high, low } = unsignedHalves(word);
  return { token0Scaled: low, token1Scaled: high };
}

function addressOf(word: bigint): Address | null {
  const address = BigInt.asUintN(ADDRESS_BITS, word);
  return address === 0n ? null : numberToHex(address, { size: 20 });
}
