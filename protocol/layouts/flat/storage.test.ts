import fc from 'fast-check';
import {
  decodeFunctionData,
  encodeAbiParameters,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  parseAbiParameters,
  toHex,
} from 'viem';
import { describe, expect, it } from 'vitest';
import { decodeHead, encodeBin, encodePair, encodeSlot0, type TokenPair } from '../../../test/protocol/flat-storage.ts';
import { MAX_POSITION } from '../../pool-state.ts';
import { decodeExtsload, encodeExtsload } from '../extsload.ts';
import { binSharesSlot, binSlot, decodeBin, HEAD_SLOTS, stateSlots } from '../storage.ts';
import { flatPoolFunctions } from './pool-abi.ts';
import { poolState } from './pool-state.fixture.ts';
import { flatStorage } from './storage.ts';

const uint128 = fc.bigInt(0n, (1n << 128n) - 1n);
const pair: fc.Arbitrary<TokenPair> = fc.record({ token0Scaled: uint128, token1Scaled: uint128 });

/** A word written as its fields from the highest-order bits down, each as hex digits. */
const word = (...fields: string[]): Hex => pad(`0x${fields.join('')}`, { size: 32 });

describe('slot 0', () => {
  it('is packed from the lowest-order bits up', () => {
    // notionalFeeE8, spreadFeeE6, distance -2, position, bin -3, pause level 1
    const packed = word('000005', '000004', 'fffffe', '000000000000000000000000ab', 'fd', '01');
    const slot0 = {
      pauseLevel: 1,
      cursor: { bin: -3, position: 0xabn, lowerDistE6: -2 },
      spreadFeeE6: 4,
      notionalFeeE8: 5,
    };
    expect(flatStorage.decodeSlot0(packed)).toEqual(slot0);
    expect(encodeSlot0(slot0)).toBe(packed);
  });

  it('holds every extreme value', () => {
    for (const [bin, lowerDistE6] of [
      [-128, -(2 ** 23)],
      [127, 2 ** 23 - 1],
    ] as const) {
      const cursor = { bin, position: MAX_POSITION, lowerDistE6 };
      const slot0 = { pauseLevel: 255, cursor, spreadFeeE6: 2 ** 24 - 1, notionalFeeE8: 2 ** 24 - 1 };
      expect(flatStorage.decodeSlot0(encodeSlot0(slot0))).toEqual(slot0);
    }
  });
});

describe('a bin', () => {
  it('is packed from the lowest-order bits up', () => {
    const packed = word('0005', '0004', '0003', '00000000000000000000000002', '00000000000000000000000001');
    const bin = { token0Scaled: 1n, token1Scaled: 2n, lengthE6: 3, addFeeBuyE6: 4, addFeeSellE6: 5 };
    expect(decodeBin(packed)).toEqual(bin);
    expect(encodeBin(bin)).toBe(packed);
  });
});

describe('mapping slots', () => {
  const key = (value: bigint) => toHex(BigInt.asUintN(256, value), { size: 32 });
  const slotOf = (keyWord: Hex, mapping: bigint) => keccak256(`${keyWord}${key(mapping).slice(2)}` as Hex);

  it.each([0, 1, 127, -1, -128])('hash the key of bin %d with the mapping', (bin) => {
    expect(binSlot(bin)).toBe(slotOf(key(BigInt(bin)), 4n));
    expect(binSharesSlot(bin)).toBe(slotOf(key(BigInt(bin)), 5n));
    expect(binSlot(bin)).toBe(binSlot(bin));
  });
});

describe('a whole pool', () => {
  const provider = '0x00000000000000000000000000000000000000aa';

  it('is read from its slots', () => {
    fc.assert(
      fc.property(poolState, pair, pair, fc.boolean(), (state, binTotals, notionalFees, mutable) => {
        const storage = new Map<Hex, Hex>();
        const { lowestBin, highestBin, scale } = state;
        const [slot0, slot1, slot2, slot3] = HEAD_SLOTS;
        if (!slot0 || !slot1 || !slot2 || !slot3) throw new Error('four head slots expected');
        storage.set(slot0, encodeSlot0(state));
        storage.set(slot1, encodePair(binTotals));
        storage.set(slot2, encodePair(notionalFees));
        storage.set(slot3, mutable ? pad(provider) : numberToHex(0n, { size: 32 }));
        state.bins.forEach((bin, index) => {
          storage.set(binSlot(lowestBin + index), encodeBin(bin));
        });
        const slots = stateSlots({ lowestBin, highestBin });
        const words = slots.map((slot) => storage.get(slot) ?? '0x');
        expect(flatStorage.decodeState({ lowestBin, highestBin, scale }, words)).toEqual(state);
        expect(decodeHead(words)).toMatchObject({
          binTotals,
          notionalFees,
          mutablePriceProvider: mutable ? provider : null,
        });
      }),
    );
  });

  it('is refused when words are missing', () => {
    const immutables = { lowestBin: 0, highestBin: 0, scale: { multiplier0: 1n, multiplier1: 1n } };
    const words = stateSlots(immutables);
    expect(() => flatStorage.decodeState(immutables, words.slice(1))).toThrow(RangeError);
  });

  it('goes through the pool ABI unchanged', () => {
    const slots = stateSlots({ lowestBin: -1, highestBin: 2 });
    const { args } = decodeFunctionData({ abi: flatPoolFunctions, data: encodeExtsload(slots) });
    expect(args).toEqual([slots]);
    const result = encodeAbiParameters(parseAbiParameters('bytes32[]'), [slots]);
    expect(decodeExtsload(result)).toEqual(slots);
  });
});
