import type pg from 'pg';
import { TOTAL_NAMES, type TotalName } from '../../protocol/pool-totals.ts';
import { setIndexedBlock } from '../harness/onchain-tables.ts';
import { SCHEMA } from './pool-kinds.ts';

/** What a swap adds to the running totals of its pool. */
const SWAP: Readonly<Partial<Record<TotalName, bigint>>> = {
  swapCount: 1n,
  swapTxCount: 1n,
  transferCount: 2n,
  swapIn0Raw: 10n ** 15n,
  swapOut1Raw: 2n * 10n ** 6n,
  lpFee0Scaled: 10n ** 12n,
  protocolFee0Scaled: 10n ** 11n,
};
const growth = (times: string) =>
  `ARRAY[${TOTAL_NAMES.map((name) => `${SWAP[name] ?? 0n} * ${times}`).join()}]::numeric[]`;

const HISTORY_SECS = 8 * 86_400;
const HISTORY_SWAPS = 100;
/** A pool trades once in this many seconds. */
const TRADES_EVERY_SECS = 60;
const TICK_MS = 1_000;
const FIRST_BLOCK = 2_000_000;
const EPOCH = Math.floor(Date.now() / 1_000) - HISTORY_SECS;

/** Swaps of the honest pools over more than the week that listings look back. */
export async function addHistory(database: pg.Pool): Promise<void> {
  await database.query(`
    INSERT INTO ${SCHEMA}.pool_activity (chain_id, pool, block_number, block_timestamp, totals)
    SELECT chain_id, pool, 1000 + k, ${EPOCH} + k * ${HISTORY_SECS / HISTORY_SWAPS} - abs(hashtext(pool)) % 1000, ${growth('k')}
    FROM honest_pool, generate_series(1, ${HISTORY_SWAPS - 1}) k`);
  await database.query(`
    UPDATE ${SCHEMA}.pool_state s SET activity_totals = ${growth(String(HISTORY_SWAPS - 1))}
    FROM honest_pool h WHERE h.chain_id = s.chain_id AND h.pool = s.pool`);
}

/** Says that the chains are indexed up to now. @returns the block */
export async function advanceIndex(
  database: Pick<pg.Pool, 'query'>,
  chainIds: readonly number[],
): Promise<{ readonly number: number; readonly timestamp: number }> {
  const timestamp = Math.floor(Date.now() / 1_000);
  const block = { number: FIRST_BLOCK + timestamp - EPOCH, timestamp };
  for (const chainId of chainIds) await setIndexedBlock(database, { chainId, ...block }, SCHEMA);
  return block;
}

/** A second of trading: each honest pool has its second in the minute. */
export async function trade(database: pg.Pool, chainIds: readonly number[]): Promise<void> {
  const client = await database.connect();
  try {
    await client.query('BEGIN');
    const { number, timestamp } = await advanceIndex(client, chainIds);
    await client.query(
      `WITH traded AS (
         UPDATE ${SCHEMA}.pool_state s SET block_number = $1, block_timestamp = $2, activity_totals = (
           SELECT array_agg(had + more ORDER BY place) FROM unnest(s.activity_totals, ${growth('1')}) WITH ORDINALITY t(had, more, place))
         FROM honest_pool h WHERE h.chain_id = s.chain_id AND h.pool = s.pool
           AND abs(hashtext(h.pool)) % ${TRADES_EVERY_SECS} = $3
         RETURNING s.chain_id, s.pool, s.activity_totals)
       INSERT INTO ${SCHEMA}.pool_activity (chain_id, pool, block_number, block_timestamp, totals)
       SELECT chain_id, pool, $1, $2, activity_totals FROM traded ON CONFLICT DO NOTHING`,
      [number, timestamp, timestamp % TRADES_EVERY_SECS],
    );
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

/** Trades until it is stopped. */
export async function keepTrading(database: pg.Pool, chainIds: readonly number[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now();
    await trade(database, chainIds);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, TICK_MS - (performance.now() - startedAt))));
  }
}
