import type { Queryable } from '../../db/transaction.ts';
import type { ListedPool } from './record.ts';

/** Window of one chain, as `operator.listing_window` keeps it. */
export type ChainWindow = {
  readonly chainId: number;
  readonly fromTs: number;
  readonly toTs: number;
  readonly fromBlock: number;
  readonly toBlock: number;
};

/** Rows per statement: large enough to save round trips, small enough to keep statements short. */
const BATCH = 1_000;

const KEY_COLUMNS = {
  chain_id: ['int8', (pool: ListedPool) => pool.chainId],
  pool: ['text', (pool: ListedPool) => pool.pool],
  factory: ['text', (pool: ListedPool) => pool.factory],
  contract_version: ['text', (pool: ListedPool) => pool.contractVersion],
  created_block_number: ['int8', (pool: ListedPool) => pool.createdBlockNumber],
  tier: ['text', (pool: ListedPool) => pool.tier],
  tier_rank: ['int2', (pool: ListedPool) => pool.tierRank],
  tvl_fiat: ['float8', (pool: ListedPool) => pool.tvlFiat],
  volume_fiat: ['float8', (pool: ListedPool) => pool.volumeFiat],
  apr_bps: ['float8', (pool: ListedPool) => pool.aprBps],
  apr_bps_7d: ['float8', (pool: ListedPool) => pool.aprBps7d],
  price_status: ['text', (pool: ListedPool) => pool.priceStatus],
  locked_pricing: ['boolean', (pool: ListedPool) => pool.lockedPricing],
  deposit_allowlist: ['boolean', (pool: ListedPool) => pool.depositAllowlist],
} as const satisfies Columns;

const SHOWN_COLUMNS = {
  chain_id: ['int8', (pool: ListedPool) => pool.chainId],
  pool: ['text', (pool: ListedPool) => pool.pool],
  record: ['text', (pool: ListedPool) => pool.record],
  analytics: ['text', (pool: ListedPool) => pool.analytics],
} as const satisfies Columns;

type Columns = Readonly<Record<string, readonly [type: string, value: (pool: ListedPool) => unknown]>>;

/** Inserts pools and updates those whose values differ; a row that did not change is not rewritten. */
export async function upsertPools(database: Queryable, pools: readonly ListedPool[]): Promise<void> {
  for (let start = 0; start < pools.length; start += BATCH) {
    const batch = pools.slice(start, start + BATCH);
    await upsert(database, 'operator.pool_listing', KEY_COLUMNS, batch);
    await upsert(database, 'operator.listed_pool', SHOWN_COLUMNS, batch);
  }
}

async function upsert(
  database: Queryable,
  table: string,
  columns: Columns,
  pools: readonly ListedPool[],
): Promise<void> {
  const entries = Object.entries(columns);
  const names = entries.map(([name]) => name);
  const arrays = entries.map(([, [type]], index) => `$${index + 1}::${type}[]`);
  const values = entries.map(([, [, value]]) => pools.map(value));
  const comparable = (source: string) => names.map((name) => `${source}.${name}`).join(', ');
  await database.query(
    `INSERT INTO ${table} AS old (${names.join(', ')})
     SELECT * FROM unnest(${arrays.join(', ')})
     ON CONFLICT (chain_id, pool) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
     WHERE (${comparable('old')}) IS DISTINCT FROM (${comparable('excluded')})`,
    values,
  );
}

/** Takes out what is listed no more: a pool that a reorganisation undid, or whose deployment was disabled. */
export async function removeOtherPools(database: Queryable, listed: readonly ListedPool[]): Promise<void> {
  const keys = [listed.map(({ chainId }) => chainId), listed.map(({ pool }) => pool)];
  for (const table of ['operator.pool_listing', 'operator.listed_pool']) {
    await database.query(
      `DELETE FROM ${table} t WHERE NOT EXISTS (
         SELECT 1 FROM unnest($1::int8[], $2::text[]) AS k (chain_id, pool)
         WHERE k.chain_id = t.chain_id AND k.pool = t.pool)`,
      keys,
    );
  }
}

/** Replaces the windows of all chains by those of a new generation. @returns its number */
export async function writeWindows(database: Queryable, windows: readonly ChainWindow[]): Promise<number> {
  const { rows } = await database.query<{ generation: string }>(
    `WITH next AS (SELECT coalesce(max(generation), 0) + 1 AS generation FROM operator.listing_window),
     gone AS (DELETE FROM operator.listing_window WHERE chain_id <> ALL ($1::int8[]))
     INSERT INTO operator.listing_window
       (chain_id, generation, from_ts, to_ts, from_block, to_block, generated_at_ts)
     SELECT chain_id, next.generation, from_ts, to_ts, from_block, to_block, extract(epoch FROM now())::int8
     FROM next, unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::int8[])
       AS w (chain_id, from_ts, to_ts, from_block, to_block)
     ON CONFLICT (chain_id) DO UPDATE SET generation = excluded.generation, from_ts = excluded.from_ts,
       to_ts = excluded.to_ts, from_block = excluded.from_block, to_block = excluded.to_block,
       generated_at_ts = excluded.generated_at_ts
     RETURNING generation`,
    [
      windows.map(({ chainId }) => chainId),
      windows.map(({ fromTs }) => fromTs),
      windows.map(({ toTs }) => toTs),
      windows.map(({ fromBlock }) => fromBlock),
      windows.map(({ toBlock }) => toBlock),
    ],
  );
  return Number(rows[0]?.generation);
}
