import type { Address, PublicClient } from 'viem';
import { expect } from 'vitest';
import { flatPoolFunctions } from '../../protocol/layouts/flat/pool-abi.ts';
import type { Page } from './listing-reader.ts';
import { countLogs, lpBalancesRaw } from './raw-log-analytics.ts';

const DAY = 86_400;

type Row = Page['data'][number];

/**
 * Expects every field of a pool's analytics, and its seven-day APR, to be what independent code counts in raw logs.
 *
 * @param blockTimes timestamps of the chain's blocks, by number
 * @returns number of the pool's logs in the window and before it
 */
export async function expectAnalytics(client: PublicClient, row: Row, blockTimes: readonly number[]) {
  const shown = row.analytics24h;
  if (!shown) throw new Error('no analytics');
  const address = row.poolAddress as Address;
  const immutables = await client.readContract({ address, abi: flatPoolFunctions, functionName: 'getImmutables' });
  const shape = {
    multipliers: [immutables.token0ScaleMultiplier, immutables.token1ScaleMultiplier] as [bigint, bigint],
  };
  const inWindow = blockTimes.flatMap((time, number) => (time > shown.fromTs && time <= shown.toTs ? [number] : []));
  expect([shown.fromBlock, shown.toBlock]).toEqual([inWindow[0], inWindow.at(-1)]);
  expect(shown.toTs - shown.fromTs).toBe(DAY);
  const logs = await client.getLogs({ address, fromBlock: 0n, toBlock: 'latest' });
  const recent = logs.filter(({ blockNumber }) => inWindow.includes(Number(blockNumber)));
  const count = await countLogs(client, address, shape, recent);
  const week = await countLogs(client, address, shape, logs);
  const liquidity = await lpBalancesRaw(client, address, shape);
  expect(shown).toMatchObject({
    swapTxCount: count.swapTx.size,
    transfers: count.transfers,
    liquidityEventCount: count.adds + count.removes,
    liquidityAddEventCount: count.adds,
    liquidityRemoveEventCount: count.removes,
  });
  for (const side of [0, 1] as const) {
    const token = side === 0 ? shown.token0 : shown.token1;
    expect(token).toMatchObject({
      liquidityRaw: String(liquidity[side]),
      volumeRaw: String(count.volume[side]),
      inflowRaw: String(count.inflow[side]),
      outflowRaw: String(count.outflow[side]),
      netRaw: String(count.inflow[side] - count.outflow[side]),
    });
  }
  expectFiat(row, { count, week, liquidity });
  return { inWindow: recent.length, before: logs.length - recent.length };
}

type Counted = {
  count: Awaited<ReturnType<typeof countLogs>>;
  week: Awaited<ReturnType<typeof countLogs>>;
  liquidity: [bigint, bigint];
};

/** Dollars again, in floating point: shown values are cut to millionths. */
function expectFiat(row: Row, { count, week, liquidity }: Counted): void {
  const shown = row.analytics24h;
  const decimals = [row.token0Decimals, row.token1Decimals];
  const prices = [row.token0FiatPrice, row.token1FiatPrice];
  if (!shown || decimals.includes(undefined)) throw new Error('no decimals');
  const internal = Math.max(18, ...decimals.map(Number));
  const worth = (amounts: readonly bigint[], scale: readonly number[]) => {
    let sum = 0;
    for (const [side, amount] of amounts.entries()) {
      if (amount === 0n) continue;
      const price = prices[side] ?? null;
      if (price === null) return null;
      sum += (Number(amount) / 10 ** (scale[side] ?? 0)) * price;
    }
    return sum;
  };
  const raw = decimals.map(Number);
  const scaled = [internal, internal];
  const tvl = worth(liquidity, raw);
  expectNear(shown.tvlFiat, tvl);
  expect(row.tvlFiat).toBe(shown.tvlFiat);
  expectNear(shown.volumeFiat, worth(count.swapIn, raw));
  expectNear(shown.feesFiat, worth(count.feeScaled, scaled));
  for (const side of [0, 1] as const) {
    const token = side === 0 ? shown.token0 : shown.token1;
    const alone = (amount: bigint) => worth(side === 0 ? [amount, 0n] : [0n, amount], raw);
    expectNear(token.liquidityFiat, alone(liquidity[side]));
    expectNear(token.volumeFiat, alone(count.volume[side]));
    expectNear(token.inflowFiat, alone(count.inflow[side]));
    expectNear(token.outflowFiat, alone(count.outflow[side]));
    expectNear(token.netFiat, alone(count.inflow[side] - count.outflow[side]));
  }
  expectCoverage(row, { count, week, liquidity });
  expectApr(shown.aprBps, worth(count.lpFeeScaled, scaled), tvl, 1);
  expectApr(row.aprBps7d ?? null, worth(week.lpFeeScaled, scaled), tvl, 7);
}

/** The priced share of the tokens that the pool holds or moved; null for a pool that did neither. */
function expectCoverage({ analytics24h: shown, ...row }: Row, { count, liquidity }: Counted): void {
  const sides = ([0, 1] as const).filter((side) => liquidity[side] + count.inflow[side] + count.outflow[side] > 0n);
  const priced = sides.filter((side) => (side === 0 ? row.token0FiatPrice : row.token1FiatPrice) !== null);
  const pct = sides.length > 0 ? (100 * priced.length) / sides.length : 0;
  expect(shown).toMatchObject({
    fiatAvailable: priced.length > 0,
    fiatCoveragePct: priced.length > 0 ? pct : null,
    usdCoveragePct: pct,
    fiatCurrency: 'USD',
    fiatStatus: { 0: 'unavailable', 50: 'partial', 100: 'complete' }[pct],
    pricingMode: 'spot',
  });
  expect(Math.abs((shown?.generatedAtTs ?? 0) - Date.now() / 1000)).toBeLessThan(600);
}

function expectNear(shown: number | null, expected: number | null): void {
  if (expected === null) expect(shown).toBeNull();
  else expect(Math.abs((shown ?? Number.NaN) - expected)).toBeLessThanOrEqual(2e-6 + Math.abs(expected) * 1e-9);
}

function expectApr(shown: number | bigint | null, fees: number | null, tvl: number | null, days: number): void {
  if (fees === null || !tvl) {
    expect(shown).toBeNull();
    return;
  }
  const exact = (fees * 365 * 10_000) / (days * tvl);
  const slack = exact * 1e-9 + 1e-9;
  expect(Number(shown)).toBeGreaterThanOrEqual(Math.floor(exact - slack));
  expect(Number(shown)).toBeLessThanOrEqual(Math.floor(exact + slack));
}
