import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_ACTIVITY, NO_PACKED_ACTIVITY } from '../indexer/reducers/activity.ts';
import { addToList } from '../indexer/schema/number-list.ts';
import type { FeesCollected, PackedSwapped, Swapped } from './pool-events.ts';
import {
  type ActivityGain,
  collectionGain,
  FLAT_FEE_TOTALS,
  liquidityGain,
  packedSwapGain,
  type SwapFees,
  swapGain,
  TOTAL,
  TOTAL_NAMES,
} from './pool-totals.ts';

const address = '0x00000000000000000000000000000000000000aa';

type Totals = Record<keyof typeof TOTAL, bigint>;

/** A list of totals, by name. */
function named(list: string): Totals {
  const values = list.slice(1, -1).split(',');
  return Object.fromEntries(
    Object.entries(TOTAL).map(([name, place]) => [name, BigInt(values[place] ?? '')]),
  ) as Totals;
}

/** Totals of which each test says all that change; `test/indexing/activity-from-logs.ts` counts those after them. */
const NOTHING = Object.fromEntries(TOTAL_NAMES.slice(0, TOTAL.purchasePlatformFeesLow + 1).map((name) => [name, 0n]));
const total = (...gains: readonly ActivityGain[]) => named(gains.reduce(addToList, NO_ACTIVITY));

const swapped = (amount0Delta: bigint, amount1Delta: bigint): Swapped => ({
  kind: 'swapped',
  sender: address,
  recipient: address,
  exactInput: true,
  amount0Delta,
  amount1Delta,
  curBin: 0,
  posInBin: 0n,
  protocolFeeScaled: 0n,
});

const fees = (changes: Partial<SwapFees>): SwapFees => ({
  zeroForOne: true,
  lpFeeScaled: 0n,
  protocolFeeScaled: 0n,
  notionalFee0Scaled: 0n,
  notionalFee1Scaled: 0n,
  ...changes,
});

test('a swap counts on the side of its input and of its output', () => {
  const paid = fees({ lpFeeScaled: 5n, protocolFeeScaled: 3n, notionalFee1Scaled: 2n });
  expect(total(swapGain(swapped(100n, -90n), paid, true))).toMatchObject({
    ...NOTHING,
    swapCount: 1n,
    swapTxCount: 1n,
    transferCount: 2n,
    swapIn0Raw: 100n,
    swapOut1Raw: 90n,
    lpFee0Scaled: 5n,
    protocolFee0Scaled: 3n,
    notionalFee1Scaled: 2n,
  });
  const other = fees({ zeroForOne: false, lpFeeScaled: 5n, protocolFeeScaled: 3n, notionalFee0Scaled: 2n });
  expect(total(swapGain(swapped(-100n, 90n), other, true))).toMatchObject({
    ...NOTHING,
    swapCount: 1n,
    swapTxCount: 1n,
    transferCount: 2n,
    swapIn1Raw: 90n,
    swapOut0Raw: 100n,
    lpFee1Scaled: 5n,
    protocolFee1Scaled: 3n,
    notionalFee0Scaled: 2n,
  });
});

test('a second swap of one transaction is a swap but no transaction', () => {
  const first = swapGain(swapped(1n, -1n), fees({}), true);
  const second = swapGain(swapped(1n, 0n), fees({}), false);
  expect(total(first, second)).toMatchObject({
    swapCount: 2n,
    swapTxCount: 1n,
    transferCount: 3n,
    swapIn0Raw: 2n,
    swapOut1Raw: 1n,
  });
});

test('a swap that moved nothing is a swap without transfers', () => {
  const totals = total(swapGain(swapped(0n, 0n), fees({}), true));
  expect(totals).toMatchObject({ ...NOTHING, swapCount: 1n, swapTxCount: 1n });
});

const packed = (amount0Delta: bigint, amount1Delta: bigint): PackedSwapped => ({
  kind: 'packedSwapped',
  sender: address,
  recipient: address,
  amount0Delta,
  amount1Delta,
  details: 2n ** 256n - 1n,
  platformFees: { high: 30n, low: 40n },
});

test('the words of a packed swap count by the direction of its amounts, whatever its details are', () => {
  const binFees = { high: 10n, low: 20n };
  expect(total(packedSwapGain(packed(100n, -90n), binFees, true))).toMatchObject({
    ...NOTHING,
    swapCount: 1n,
    swapTxCount: 1n,
    transferCount: 2n,
    swapIn0Raw: 100n,
    swapOut1Raw: 90n,
    saleBinFeesHigh: 10n,
    saleBinFeesLow: 20n,
    salePlatformFeesHigh: 30n,
    salePlatformFeesLow: 40n,
  });
  expect(total(packedSwapGain(packed(-100n, 90n), binFees, false))).toMatchObject({
    ...NOTHING,
    swapCount: 1n,
    transferCount: 2n,
    swapIn1Raw: 90n,
    swapOut0Raw: 100n,
    purchaseBinFeesHigh: 10n,
    purchaseBinFeesLow: 20n,
    purchasePlatformFeesHigh: 30n,
    purchasePlatformFeesLow: 40n,
  });
});

test('a packed pool has no totals of fees, also after swaps', () => {
  const list = addToList(NO_PACKED_ACTIVITY, packedSwapGain(packed(1n, -1n), { high: 1n, low: 1n }, true));
  const values = list.slice(1, -1).split(',');
  const unknown = Object.entries(TOTAL).filter(([, place]) => values[place] === 'NULL');
  expect(unknown.map(([name]) => name)).toEqual([...FLAT_FEE_TOTALS]);
  expect(values).toHaveLength(Object.keys(TOTAL).length);
});

test('liquidity counts by direction; an amount that rounds to nothing is no transfer', () => {
  const added = { delta0Scaled: 9n, delta1Scaled: 0n, amount0Raw: 9n, amount1Raw: 0n };
  const removed = { delta0Scaled: -4n, delta1Scaled: -3n, amount0Raw: -4n, amount1Raw: 0n };
  const totals = total(liquidityGain('added', added), liquidityGain('removed', removed));
  expect(totals).toMatchObject({
    ...NOTHING,
    liquidityAddCount: 1n,
    liquidityRemoveCount: 1n,
    transferCount: 2n,
    liquidityIn0Raw: 9n,
    liquidityOut0Raw: 4n,
  });
});

test('a fee collection counts what went to protocol and admin together, each as a transfer', () => {
  const event: FeesCollected = {
    kind: 'feesCollected',
    amount0ToProtocol: 1n,
    amount1ToProtocol: 0n,
    amount0ToAdmin: 2n,
    amount1ToAdmin: 4n,
  };
  const totals = total(collectionGain(event));
  expect(totals).toMatchObject({ ...NOTHING, transferCount: 3n, feesCollected0Raw: 3n, feesCollected1Raw: 4n });
});

test('the difference of two totals is what came between them', () => {
  const amounts = fc.tuple(fc.bigInt({ min: -50n, max: 50n }), fc.bigInt({ min: -50n, max: 50n }));
  fc.assert(
    fc.property(fc.array(amounts), fc.array(amounts), (before, between) => {
      const play = (start: string, swaps: readonly (readonly [bigint, bigint])[]) =>
        swaps.reduce((list, [a, b]) => addToList(list, swapGain(swapped(a, b), fees({}), true)), start);
      const middle = play(NO_ACTIVITY, before);
      const [from, to] = [named(middle), named(play(middle, between))];
      const alone = named(play(NO_ACTIVITY, between));
      expect(to.swapIn0Raw - from.swapIn0Raw).toBe(alone.swapIn0Raw);
      expect(to.swapOut1Raw - from.swapOut1Raw).toBe(alone.swapOut1Raw);
      expect(to.transferCount - from.transferCount).toBe(alone.transferCount);
      expect(to.swapIn0Raw - to.swapOut0Raw).toBe([...before, ...between].reduce((sum, [a]) => sum + a, 0n));
    }),
  );
});

test('every total has a place of its own, and a new pool has them all at zero', () => {
  const places = Object.values(TOTAL);
  expect(places).toEqual(places.map((_, index) => index));
  expect(NO_ACTIVITY).toBe(`{${places.map(() => '0').join(',')}}`);
});
