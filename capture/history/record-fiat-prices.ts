import type pg from 'pg';
import { loadStatement } from '../../db/load-statement.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';

export interface FiatHistoryDeps {
  readonly database: pg.Pool;
  /** A price older than this no longer counts and is not recorded. */
  readonly fiatMaxAgeSecs: number;
  /** The pools of all chains: tokens of funded ones are recorded. */
  readonly pools: () => Promise<readonly Pick<KnownPool, 'chainId' | 'isFunded' | 'token0' | 'token1'>[]>;
}

const MINUTE = 60;
const DAY = 86_400;
/** How long rows are kept, seconds. */
const KEPT_SECS = { fiat_price_minute: 7 * DAY, fiat_price_hour: 400 * DAY };

const insertMinutes = loadStatement('./insert-fiat-minutes.sql', import.meta.url);
const insertHours = loadStatement('./insert-fiat-hours.sql', import.meta.url);

/**
 * Records the prices of funded pools' tokens: a row in each minute in which capture saw a new price, and the first
 * price of each hour. A recorded row never changes.
 *
 * @param nowSecs Unix seconds
 * @throws an error of Postgres
 */
export async function recordFiatPrices(
  { database, fiatMaxAgeSecs, pools }: FiatHistoryDeps,
  nowSecs: number,
): Promise<void> {
  const tokens = new Map<string, readonly [number, string]>();
  for (const { chainId, isFunded, token0, token1 } of await pools()) {
    if (!isFunded) continue;
    for (const token of [token0, token1]) tokens.set(`${chainId}:${token}`, [chainId, token]);
  }
  const list = [...tokens.values()];
  const ts = nowSecs - (nowSecs % MINUTE);
  await inTransaction(database, 'READ COMMITTED', async (client) => {
    for (const [table, keptSecs] of Object.entries(KEPT_SECS)) {
      await client.query('SELECT history.keep_partitions($1, $2, $3)', [table, ts, ts - keptSecs]);
    }
    const chainIds = list.map(([chainId]) => chainId);
    await insertMinutes(client, [chainIds, list.map(([, token]) => token), ts, fiatMaxAgeSecs]);
    await insertHours(client, [ts]);
  });
}
