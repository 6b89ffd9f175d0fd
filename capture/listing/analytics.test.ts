import { describe, expect, test } from 'vitest';
import { NO_TOTALS } from '../../test/metadata/no-totals.ts';
import { computeAnalytics, type PoolDay, sortFigures } from './analytics.ts';
import { PRICE_AGE, type PriceAge } from './price-age.ts';

const DAY: PoolDay = {
  totals: {
    ...NO_TOTALS,
    swapTxCount: 2n,
    transferCount: 7n,
    liquidityAddCount: 1n,
    liquidityRemoveCount: 1n,
    swapIn0Raw: 10n ** 18n,
    swapOut0Raw: 3n * 10n ** 17n,
    liquidityIn0Raw: 5n,
    feesCollected0Raw: 7n,
    swapIn1Raw: 900_000_000n,
    swapOut1Raw: 2_900_000_000n,
  },
  feesScaled: [2n * 10n ** 15n, 10n ** 18n],
  lpFeesScaled: [2n * 10n ** 15n, 0n],
  weekLpFeesScaled: [14n * 10n ** 15n, 0n],
  liquidityRaw: [10n ** 18n, 6_000_000_000n],
};
const WETH = { usd: 3000, decimals: 18 };
const USDC = { usd: 1, decimals: 6 };
const UNPRICED = { usd: null, decimals: 6 };

test('counts, flows, values and yields of a priced pool', () => {
  const { figures, analytics } = computeAnalytics(DAY, [WETH, USDC]);
  // 6 dollars of LP fees a day on 9,000 dollars.
  expect(figures).toEqual({
    tvlFiat: 9000,
    volumeFiat: 3900,
    lpFeesFiat: 6,
    lpFeesFiat7d: 42,
    aprBps: 2433n,
    aprBps7d: 2433n,
  });
  expect(analytics).toMatchObject({
    swapTxCount: 2,
    transfers: 7,
    liquidityEventCount: 2,
    liquidityAddEventCount: 1,
    liquidityRemoveEventCount: 1,
    token0: { volumeRaw: '1300000000000000000', inflowRaw: '1000000000000000005', outflowRaw: '300000000000000007' },
    token1: { netRaw: '-2000000000', netFiat: -2000, inflowFiat: 900, outflowFiat: 2900 },
    volumeFiat: 3900,
    feesFiat: 7,
    tvlFiat: 9000,
    aprBps: 2433,
    fiatAvailable: true,
    fiatCoveragePct: 100,
    usdCoveragePct: 100,
    fiatStatus: 'complete',
    pricingMode: 'spot',
  });
});

describe('figures that sort', () => {
  const last = (usd: number | null, age: PriceAge, decimals = 6) => ({
    decimals,
    lastPrice: usd === null ? null : { usd, age },
  });
  const { shown, ofDay, older } = PRICE_AGE;
  /** Fees were paid in token0 alone. */
  const FEES = { lpFeesFiat: 6, lpFeesFiat7d: 42 };
  const NONE = { volumeFiat: null, aprBps: null, aprBps7d: null };

  test('go by the last prices of a day', () => {
    const { figures } = computeAnalytics(DAY, [WETH, USDC]);
    for (const ages of [
      [shown, shown],
      [ofDay, shown],
      [ofDay, ofDay],
    ] as const) {
      expect(sortFigures(DAY, [last(3000, ages[0], 18), last(1, ages[1])])).toEqual(figures);
    }
  });

  test('are afterwards the TVL by last prices alone, at most the default floor', () => {
    expect(sortFigures(DAY, [last(3000, shown, 18), last(1, older)])).toEqual({ ...NONE, ...FEES, tvlFiat: 10 });
    expect(sortFigures(DAY, [last(3, ofDay, 18), last(0.001, older)])).toEqual({
      ...NONE,
      lpFeesFiat: 0.006,
      lpFeesFiat7d: 0.042,
      tvlFiat: 9,
    });
  });

  test('stay unknown where a token never had a price', () => {
    expect(sortFigures(DAY, [last(3000, shown, 18), last(null, shown)])).toEqual({ ...NONE, ...FEES, tvlFiat: null });
  });
});

describe('a token without a price', () => {
  test('makes every sum unknown that it moves in', () => {
    const { figures, analytics } = computeAnalytics(DAY, [WETH, UNPRICED]);
    expect(figures).toEqual({
      tvlFiat: null,
      volumeFiat: null,
      aprBps: null,
      aprBps7d: null,
      lpFeesFiat: 6,
      lpFeesFiat7d: 42,
    });
    expect(analytics).toMatchObject({ feesFiat: null, usdCoveragePct: 50, fiatCoveragePct: 50, fiatStatus: 'partial' });
    expect(analytics.token1).toMatchObject({ volumeRaw: '3800000000', volumeFiat: null });
  });

  test('does no harm where it did not move', () => {
    const { totals } = DAY;
    const still = { swapIn1Raw: 0n, swapOut1Raw: 0n };
    const fees = [2n * 10n ** 15n, 0n] as const;
    const day: PoolDay = { ...DAY, totals: { ...totals, ...still }, feesScaled: fees, liquidityRaw: [10n ** 18n, 0n] };
    const { figures, analytics } = computeAnalytics(day, [WETH, UNPRICED]);
    expect(figures.tvlFiat).toBe(3000);
    expect(analytics.fiatStatus).toBe('complete');
  });
});

test('what is not known is null, and what depends on it; volumes and counts stand', () => {
  const unknown = { feesScaled: null, lpFeesScaled: null, weekLpFeesScaled: null };
  const { figures, analytics } = computeAnalytics({ ...DAY, ...unknown }, [WETH, USDC]);
  expect(figures).toMatchObject({ volumeFiat: 3900, aprBps: null, aprBps7d: null });
  expect(figures.tvlFiat).toBeGreaterThan(0);
  expect(analytics).toMatchObject({
    feesFiat: null,
    aprBps: null,
    volumeFiat: 3900,
    swapTxCount: 2,
    fiatStatus: 'complete',
    token0: { liquidityRaw: '1000000000000000000', volumeRaw: '1300000000000000000' },
  });
});

test('nothing priced', () => {
  const bare = { usd: 1, decimals: null };
  expect(computeAnalytics(DAY, [UNPRICED, bare]).analytics).toMatchObject({
    fiatAvailable: false,
    fiatCoveragePct: null,
    usdCoveragePct: 0,
    fiatStatus: 'unavailable',
  });
});

describe('an empty pool of priced tokens', () => {
  const emptied: PoolDay = { ...DAY, liquidityRaw: [0n, 0n] };
  const none = { feesScaled: [0n, 0n], lpFeesScaled: [0n, 0n], weekLpFeesScaled: [0n, 0n] } as const;
  const unused: PoolDay = { ...emptied, ...none, totals: NO_TOTALS };

  test('is worth nothing, and has nothing that a price could cover', () => {
    const { figures, analytics } = computeAnalytics(unused, [WETH, USDC]);
    expect(figures).toEqual({
      tvlFiat: 0,
      volumeFiat: 0,
      aprBps: null,
      aprBps7d: null,
      lpFeesFiat: 0,
      lpFeesFiat7d: 0,
    });
    expect(analytics).toMatchObject({
      tvlFiat: 0,
      volumeFiat: 0,
      feesFiat: 0,
      aprBps: null,
      fiatAvailable: false,
      fiatCoveragePct: null,
      usdCoveragePct: 0,
      fiatStatus: 'unavailable',
    });
    expect(analytics.token0).toMatchObject({ liquidityFiat: 0, volumeFiat: 0, netFiat: 0 });
  });

  test('that was emptied within the day is covered by the prices of what moved', () => {
    expect(computeAnalytics(emptied, [WETH, USDC]).analytics).toMatchObject({
      tvlFiat: 0,
      volumeFiat: 3900,
      aprBps: null,
      fiatAvailable: true,
      fiatCoveragePct: 100,
      usdCoveragePct: 100,
      fiatStatus: 'complete',
    });
  });
});
