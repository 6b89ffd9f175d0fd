import type pg from 'pg';
import { inTransaction } from '../../db/transaction.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';

export interface FiatHistoryDeps {
  readonly database: pg.Pool;
  /** A price older than this no longer counts and is not recorded. */
  readonly fiatMaxAgeSecs: number;
  /** The pools of all chains: tokens of funded ones are recorded. */
  readonly pools: () => Promise<readonly Pick<KnownPool, 'chainId' | 'isFunded' | 'token0' | 'token1'>[]>;
}

const DAY = 86_400;
/** How long rows are kept, seconds. */
const KEPT_SECS = { fiat_price_minute: 7 * DAY, fiat_price_hour: 400 * DAY };

/** Inserts changed prices. A row gives the price for at most two hours, so each hour begins with a row of its own. */
const MINUTES_SQL = `
  INSERT INTO history.fiat_price_minute (chain_id, token, ts, usd, source)
  SELECT p.chain_id, p.token, $3, p.usd, p.source
  FROM unnest($1::int8[], $2::text[]) AS funded (chain_id, token)
  JOIN operator.fiat_price p ON p.chain_id = funded.chain_id AND p.token = funded.token
  LEFT JOIN LATERAL (
    SELECT usd, source, ts FROM history.fiat_price_minute h
    WHERE h.chain_id = p.chain_id AND h.token = p.token AND h.ts > $3 - 7200 AND h.ts <= $3
    ORDER BY ts DESC LIMIT 1
  ) last ON true
  WHERE p.priced_at > now() - make_interval(secs => $4)
    AND ((p.usd, p.source) IS DISTINCT FROM (last.usd, last.source) OR last.ts < $3 - $3 % 3600)
  ON CONFLICT DO NOTHING`;

const HOURS_SQL = `
  INSERT INTO history.fiat_price_hour (chain_id, token, ts, usd, source)
  SELECT DISTINCT ON (chain_id, token) chain_id, token, $1 - $1 % 3600, usd, source
  FROM history.fiat_price_minute WHERE ts >= $1 - $1 % 3600 AND ts <= $1
  ORDER BY chain_id, token, ts
  ON CONFLICT DO NOTHING`;

/**
 * Records the prices of funded pools' tokens: a row in each minute in which capture saw a new price, and the first
 * price of each hour. A recorded row never changes.
 *
 * @throws an error of Postgres
 */
export async function recordFiatPrices({ database, fiatMaxAgeSecs, pools }: FiatHistoryDeps): Promise<void> {
  const tokens = new Map<string, readonly [number, string]>();
  for (const { chainId, isFunded, token0, token1 } of await pools()) {
    if (!isFunded) continue;
    for (const token of [token0, token1]) tokens.set(`${chainId}:${token}`, [chainId, token]);
  }
  const list = [...tokens.values()];
  await inTransaction(database, 'READ COMMITTED', async (client) => {
    const { rows } = await client.query<{ ts: string }>(
      'SELECT extract(epoch FROM date_trunc($1, now()))::int8 AS ts',
      ['minute'],
    );
    const ts = Number(rows[0]?.ts);
    for (const [table, keptSecs] of Object.entries(KEPT_SECS)) {
      await client.query('SELECT history.keep_partitions($1, $2, $3)', [table, ts, ts - keptSecs]);
    }
    const chainIds = list.map(([chainId]) => chainId);
    await client.query(MINUTES_SQL, [chainIds, list.map(([, token]) => token), ts, fiatMaxAgeSecs]);
    await client.query(HOURS_SQL, [ts]);
  });
}
