import type pg from 'pg';
import { type Address, type PublicClient, parseEventLogs } from 'viem';
import { expect } from 'vitest';
import type { ChainDay } from '../../api/adapters/defillama-declaration.ts';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { flatPoolEvents } from '../../protocol/layouts/flat/pool-abi.ts';
import { sumLoggedActivity } from '../indexing/activity-from-logs.ts';
import type { IndexedPool } from '../indexing/indexed-pools.ts';
import type { WorldChain } from '../indexing/indexed-world.ts';

const DAY = 86_400;
/** US dollars of a whole token, of any. */
const PRICE = 2.5;

/** Says what tokens were worth in days of a chain, Unix seconds, and writes the minutes of their trades. */
export async function priceDays(database: pg.Pool, days: readonly number[]): Promise<void> {
  for (const day of days) {
    await database.query("SELECT history.keep_partitions('fiat_price_hour', $1::int8, 0)", [day]);
    await database.query(
      `INSERT INTO history.fiat_price_hour SELECT chain_id, address, $1::int8 + hour * 3600, $2, 'static'
       FROM read_model.token, generate_series(0, 23) hour ON CONFLICT DO NOTHING`,
      [day, PRICE],
    );
  }
  await writeTradeMinutes(database);
}

/** The days (UTC) of a chain from its first block until now: Unix seconds of their starts. */
export async function daysOf({ client }: WorldChain): Promise<readonly number[]> {
  const [first, last] = [await client.getBlock({ blockNumber: 1n }), await client.getBlock()];
  const [from, to] = [first, last].map(({ timestamp }) => Math.floor(Number(timestamp) / DAY));
  return Array.from({ length: (to ?? 0) - (from ?? 0) }, (_, n) => ((from ?? 0) + n) * DAY);
}

/** Of the tokens of a pool. */
type Decimals = { readonly decimals0: number | null; readonly decimals1: number | null };
type Pair = readonly [bigint, bigint];

/**
 * Volume and fees of all days together, and the value at the end of the last one, are those of the chain's logs. What a
 * pool holds beyond what its liquidity providers own, or paid out, are fees of protocol and admin, and roundings.
 */
export async function expectDays(
  { client }: WorldChain,
  days: readonly ChainDay[],
  pools: ReadonlyMap<Address, IndexedPool & Decimals>,
): Promise<void> {
  const logged = { volume: 0, lpFees: 0, revenue: 0, tvl: 0, unknown: 0, dust: 0 };
  for (const [address, { decimals0, decimals1, ...pool }] of pools) {
    const owned = await ownedByProviders(client, address);
    if (decimals0 === null || decimals1 === null) {
      if (owned.some((amount) => amount !== 0n)) logged.unknown += 1;
      continue;
    }
    const units = [10 ** decimals0, 10 ** decimals1] as const;
    const multipliers = [pool.token0ScaleMultiplier, pool.token1ScaleMultiplier] as const;
    const scaled = [units[0] * Number(multipliers[0]), units[1] * Number(multipliers[1])] as const;
    const dollars = ([amount0, amount1]: Pair, [unit0, unit1]: readonly [number, number]) =>
      (Number(amount0) / unit0 + Number(amount1) / unit1) * PRICE;
    const sums = await sumLoggedActivity(client, address, pool);
    logged.volume += dollars(sums.swapIn, units);
    logged.lpFees += dollars(sums.lpFee, scaled);
    logged.tvl += dollars(owned, scaled);
    const beyond = (token: 0 | 1) => {
      const [swapped, added] = [
        sums.swapIn[token] - sums.swapOut[token],
        sums.liquidityIn[token] - sums.liquidityOut[token],
      ];
      return (swapped + added) * multipliers[token] - owned[token];
    };
    logged.revenue += dollars([beyond(0), beyond(1)], scaled);
    const roundings = BigInt(sums.swapCount + sums.liquidityAddCount + sums.liquidityRemoveCount);
    logged.dust += dollars([roundings, roundings], units);
  }
  const sum = (figure: 'dailyVolume' | 'dailySupplySideRevenue' | 'dailyRevenue' | 'dailyFees') =>
    days.reduce((total, day) => total + day[figure], 0);
  for (const value of [logged.volume, logged.revenue, logged.tvl]) expect(value).toBeGreaterThan(0);
  expect(sum('dailyVolume') / logged.volume).toBeCloseTo(1, 9);
  expect(sum('dailySupplySideRevenue') / logged.lpFees).toBeCloseTo(1, 9);
  expect(Math.abs(sum('dailyRevenue') - logged.revenue)).toBeLessThanOrEqual(logged.dust);
  expect(sum('dailyFees') / (sum('dailySupplySideRevenue') + sum('dailyRevenue'))).toBeCloseTo(1, 9);
  const last = days.at(-1);
  expect((last?.tvl ?? 0) / logged.tvl).toBeCloseTo(1, 9);
  expect(last?.unknown.tvl).toBe(logged.unknown);
}

/** What the liquidity providers of a pool own, scaled, by what its logs say of bins. */
async function ownedByProviders(client: PublicClient, address: Address): Promise<Pair> {
  const owned: [bigint, bigint] = [0n, 0n];
  const logs = await client.getLogs({ address, fromBlock: 0n });
  for (const log of parseEventLogs({ abi: flatPoolEvents, logs })) {
    const isOfLiquidity = log.eventName === 'LiquidityAdded' || log.eventName === 'LiquidityRemoved';
    const deltas = isOfLiquidity ? log.args.binBalanceDeltas : log.eventName === 'BinSwapped' ? [log.args.delta] : [];
    for (const { delta0Scaled, delta1Scaled } of deltas) {
      owned[0] += delta0Scaled;
      owned[1] += delta1Scaled;
    }
  }
  return owned;
}
