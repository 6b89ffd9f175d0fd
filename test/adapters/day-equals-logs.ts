import type pg from 'pg';
import type { Address } from 'viem';
import { expect } from 'vitest';
import type { ChainDay } from '../../api/adapters/defillama-declaration.ts';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
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
type Decimals = { readonly decimals0: number; readonly decimals1: number };

/** Volume and fees of liquidity providers of all days together are those of the chain's logs. */
export async function expectDays(
  chain: WorldChain,
  days: readonly ChainDay[],
  pools: ReadonlyMap<Address, IndexedPool & Decimals>,
): Promise<void> {
  const logged = { volume: 0, lpFees: 0 };
  for (const [address, { decimals0, decimals1, ...pool }] of pools) {
    const units = [10 ** decimals0, 10 ** decimals1] as const;
    const scaled = [
      units[0] * Number(pool.token0ScaleMultiplier),
      units[1] * Number(pool.token1ScaleMultiplier),
    ] as const;
    const dollars = ([amount0, amount1]: readonly [bigint, bigint], [unit0, unit1]: readonly [number, number]) =>
      (Number(amount0) / unit0 + Number(amount1) / unit1) * PRICE;
    const { swapIn, lpFee } = await sumLoggedActivity(chain.client, address, pool);
    logged.volume += dollars(swapIn, units);
    logged.lpFees += dollars(lpFee, scaled);
  }
  const sum = (figure: 'dailyVolume' | 'dailySupplySideRevenue') => days.reduce((total, day) => total + day[figure], 0);
  expect(logged.volume).toBeGreaterThan(0);
  expect(sum('dailyVolume') / logged.volume).toBeCloseTo(1, 9);
  expect(sum('dailySupplySideRevenue') / logged.lpFees).toBeCloseTo(1, 9);
}
