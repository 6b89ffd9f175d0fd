import { expect, test } from 'vitest';
import type { DepthSample, TradeBar } from './api.ts';
import { candlesOf, closesOf, depthsOf, volumesOf } from './history.ts';

const x64 = (price: number) => String(BigInt(price) << 64n);
const bar = (startTs: number, price: number | null): TradeBar => ({
  startTs,
  openX64: price && x64(price),
  highX64: price && x64(price + 2),
  lowX64: price && x64(price - 1),
  closeX64: price && x64(price + 1),
  volume0Raw: '0',
  volume1Raw: '0',
  volumeUsd: 0,
  swapCount: 1,
  final: true,
});

test('candles come oldest first, without bars that have no price', () => {
  const bars = [bar(120, 2_000), bar(60, null), bar(0, 1_000)];
  expect(candlesOf(bars)).toEqual([
    { time: 0, open: 1_000, high: 1_002, low: 999, close: 1_001 },
    { time: 120, open: 2_000, high: 2_002, low: 1_999, close: 2_001 },
  ]);
  expect(closesOf(bars).map(({ value }) => value)).toEqual([1_001, 2_001]);
});

test('depth of both sides is in whole token1, and what is not known is left out', () => {
  const sample = (ts: number, depth: DepthSample['depth']): DepthSample => ({
    ts,
    blockNumber: 1,
    status: 'healthy',
    basis: 'committed',
    bidX64: x64(1_999),
    askX64: x64(2_000),
    depth,
  });
  const samples = [
    sample(120, [{ bps: 50, bidRaw: '3000000', askRaw: null }]),
    sample(60, null),
    sample(59, [
      { bps: 10, bidRaw: '1', askRaw: '1' },
      { bps: 50, bidRaw: '4500000', askRaw: '1500000000000000000' },
    ]),
  ];
  expect(depthsOf({ depths: samples, secs: 60 }, [18, 6])).toEqual({
    bids: [
      { time: 0, value: 4.5 },
      { time: 120, value: 3 },
    ],
    asks: [{ time: 0, value: 3_000 }],
  });
  // Of each bar the last sample that has it.
  expect(depthsOf({ depths: samples, secs: 300 }, [18, 6])).toEqual({
    bids: [{ time: 0, value: 3 }],
    asks: [{ time: 0, value: 3_000 }],
  });
});

test('volume is in whole token1, of bars without a price too', () => {
  const bars = [{ ...bar(120, 2_000), volume1Raw: '2500000' }, bar(60, null)];
  expect(volumesOf(bars, 6)).toEqual([
    { time: 60, value: 0 },
    { time: 120, value: 2.5 },
  ]);
});
