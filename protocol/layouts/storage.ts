import { type Address, encodeAbiParameters, type Hex, keccak256, numberToHex, parseAbiParameters, size } from 'viem';
import type { CallResult } from '../bounded-calls/bounded-calls.ts';
import type {
  BinRange,
  BinState,
  PoolHead,
  PoolImmutables,
  PoolState,
  Slot0,
  StoredPool,
  TokenPair,
} from '../pool-state.ts';
import { decodeExtsload, encodeExtsload } from './extsload.ts';
import { hexReader, type WordShape } from './words.ts';

/** How the pools of a layout are stored. Slots and the words of bins are the same in every layout. */
export interface PoolStorage {
  /** The fields of slot 0. */
  readonly slot0: WordShape<Slot0Field>;
  decodeSlot0(word: Hex): Slot0;
  /** @param words of {@link HEAD_SLOTS} */
  decodeHead(words: readonly Hex[]): PoolHead;
  /** @throws RangeError when the words are not those of {@link stateSlots} */
  decodeState(immutables: PoolImmutables, words: readonly Hex[]): PoolState;
  /** @param words of {@link allSlots} */
  decodeAll(words: readonly Hex[]): StoredPool;
}

type Slot0Field = 'pauseLevel' | 'curBin' | 'posInBin' | 'curBinDistE6' | 'spreadFeeE6' | 'notionalFeeE8';

/** Slot 0, balances of all bins, uncollected notional fees, and the replaceable price provider. */
export const HEAD_SLOTS: readonly Hex[] = [0, 1, 2, 3].map((slot) => numberToHex(slot, { size: 32 }));
/** Calldata for a pool that asks for {@link HEAD_SLOTS}. */
export const HEAD_DATA = encodeExtsload(HEAD_SLOTS);
/** Bytes of the answer: where the list of words begins, its length, the words. */
export const HEAD_BYTES = 32 * (2 + HEAD_SLOTS.length);

/** The fields of a bin's word. */
export const BIN_WORD = {
  token0Scaled: { offset: 0, bits: 104 },
  token1Scaled: { offset: 104, bits: 104 },
  lengthE6: { offset: 208, bits: 16 },
  addFeeBuyE6: { offset: 224, bits: 16 },
  addFeeSellE6: { offset: 240, bits: 16 },
} as const satisfies WordShape<keyof BinState>;

/** Slot of a bin's word. */
export const binSlot = mappingSlots(4n);
/** Slot of a bin's total shares: a plain uint256. */
export const binSharesSlot = mappingSlots(5n);
const readBinWord = hexReader(BIN_WORD);

/** Reads a bin's word. */
export function decodeBin(word: Hex): BinState {
  const { token0Scaled, token1Scaled, ...shape } = readBinWord(word);
  return {
    token0Scaled,
    token1Scaled,
    lengthE6: Number(shape.lengthE6),
    addFeeBuyE6: Number(shape.addFeeBuyE6),
    addFeeSellE6: Number(shape.addFeeSellE6),
  };
}

/** Slots of everything that `decodeState` needs: head, then every bin from lowest to highest. */
export function stateSlots({ lowestBin, highestBin }: BinRange): Hex[] {
  return [
    ...HEAD_SLOTS,
    ...Array.from({ length: highestBin - lowestBin + 1 }, (_, index) => binSlot(lowestBin + index)),
  ];
}

/** Slots of everything that `decodeAll` needs: those of {@link stateSlots}, then the total shares of each bin. */
export function allSlots(immutables: BinRange): Hex[] {
  const { lowestBin, highestBin } = immutables;
  const shares = Array.from({ length: highestBin - lowestBin + 1 }, (_, index) => binSharesSlot(lowestBin + index));
  return [...stateSlots(immutables), ...shares];
}

/** @param binBits width of the current bin in slot 0, which moves the fields above it */
export function poolStorage(binBits: 8 | 16): PoolStorage {
  const slot0 = {
    pauseLevel: { offset: 0, bits: 8 },
    curBin: { offset: 8, bits: binBits, signed: true },
    posInBin: { offset: 8 + binBits, bits: 104 },
    curBinDistE6: { offset: 112 + binBits, bits: 24, signed: true },
    spreadFeeE6: { offset: 136 + binBits, bits: 24 },
    notionalFeeE8: { offset: 160 + binBits, bits: 24 },
  };
  const readSlot0 = hexReader<Slot0Field>(slot0);
  const decodeSlot0 = (word: Hex): Slot0 => {
    const slot = readSlot0(word);
    return {
      pauseLevel: Number(slot.pauseLevel),
      cursor: { bin: Number(slot.curBin), position: slot.posInBin, lowerDistE6: Number(slot.curBinDistE6) },
      spreadFeeE6: Number(slot.spreadFeeE6),
      notionalFeeE8: Number(slot.notionalFeeE8),
    };
  };
  const decodeHead = ([word, totals, fees, provider]: readonly Hex[]): PoolHead => {
    if (word === undefined || totals === undefined || fees === undefined || provider === undefined) {
      throw new RangeError(`a pool's head takes ${HEAD_SLOTS.length} words`);
    }
    return {
      ...decodeSlot0(word),
      binTotals: tokenPair(BigInt(totals)),
      notionalFees: tokenPair(BigInt(fees)),
      mutablePriceProvider: addressOf(BigInt(provider)),
    };
  };
  return {
    slot0,
    decodeSlot0,
    decodeHead,
    decodeAll(words) {
      const bins = words.slice(HEAD_SLOTS.length);
      const count = bins.length / 2;
      return {
        ...decodeHead(words),
        bins: bins.slice(0, count).map((word, bin) => ({ ...decodeBin(word), shares: BigInt(bins[count + bin] ?? 0) })),
      };
    },
    decodeState({ lowestBin, highestBin, scale }, words) {
      const expected = HEAD_SLOTS.length + highestBin - lowestBin + 1;
      const [word] = words;
      if (word === undefined || words.length !== expected) {
        throw new RangeError(`expected ${expected} storage words, got ${words.length}`);
      }
      const bins = words.slice(HEAD_SLOTS.length).map(decodeBin);
      return { lowestBin, highestBin, scale, ...decodeSlot0(word), bins };
    },
  };
}

/** The head of a pool from the result of {@link HEAD_DATA}; null when it is not an answer. */
export function readHead({ decodeHead }: PoolStorage, { success, data }: CallResult): PoolHead | null {
  if (!success || size(data) < HEAD_BYTES) return null;
  const words = decodeExtsload(data);
  return words.length === HEAD_SLOTS.length ? decodeHead(words) : null;
}

/** Slots of a mapping keyed by int256, cached because a keccak costs more than the rest of a decode. */
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

/** As Solidity packs two uint128: token0 in the low half. Event words are the other way round. */
const tokenPair = (word: bigint): TokenPair => ({
  token0Scaled: BigInt.asUintN(128, word),
  token1Scaled: word >> 128n,
});

function addressOf(word: bigint): Address | null {
  const address = BigInt.asUintN(160, word);
  return address === 0n ? null : numberToHex(address, { size: 20 });
}
