import pg from 'pg';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { createIndexedDatabase, type IndexedDatabase } from './indexed-database.ts';
import { ONCHAIN_SCHEMA, setIndexedBlock } from './onchain-tables.ts';
import { openSeeder, seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from './seed-pools.ts';

export const DAY = 86_400;
/** 2026-11-18. */
export const START = 1_794_960_000;
export const CHAINS = [5, 6];
/** The last one is of tokens whose amounts have more than 38 digits. */
const POOLS = [seedAddress(1), seedAddress(2), seedAddress(3)];

export interface SeededHistory extends IndexedDatabase {
  /** Says that all blocks before a time are final, and writes their minutes. */
  readonly finalise: (ts: number) => Promise<void>;
  /** Minutes of trades of the first final day, made directly. */
  readonly addMinutes: (count: number) => Promise<void>;
}

/** A database with three days of history, of two chains; the first two and a half days are final. */
export async function openHistory(): Promise<SeededHistory> {
  const database = await createIndexedDatabase();
  const { client } = database;
  const seeder = openSeeder(database.url);
  for (const chainId of CHAINS) {
    await seedToken(seeder.db, { chainId, address: TOKEN0, decimals: 6 });
    await seedToken(seeder.db, { chainId, address: TOKEN1, decimals: 2 });
    await seedPools(
      seeder.db,
      POOLS.map((address) => ({ pool: { chainId, address } })),
    );
  }
  await seeder.end();
  const partitions = ['fiat_price_minute', 'fiat_price_hour', 'quote_minute', 'persistence_day'].flatMap((table) =>
    [0, 1, 2].map((day) => `SELECT history.keep_partitions('${table}', ${START + day * DAY}, 0)`),
  );
  await client.query(partitions.join(';'));
  await client.query(
    `SET search_path = ${ONCHAIN_SCHEMA}, public;
     CREATE TEMP TABLE seeded AS
       SELECT chain_id, pool, 100 + n AS block_number, ${START} + n * 2100 AS ts, n % 3 <> 0 AS sale,
              CASE WHEN n % 11 = 0 THEN 0 ELSE 1000003::numeric * (n + chain_id) * unit END AS amount0,
              (2000000::numeric + (n * 7919) % 9973) * unit AS amount1
       FROM unnest(ARRAY[${CHAINS}]) chain_id, generate_series(0, 120) n,
            unnest(ARRAY['${POOLS.join("','")}'], ARRAY[1, 10::numeric ^ 20, 10::numeric ^ 36]) AS p (pool, unit);
     INSERT INTO swap (chain_id, block_number, block_timestamp, log_index, transaction_hash, pool, sender, recipient,
         transaction_from, transaction_index, zero_for_one, exact_input, amount0_raw, amount1_raw, parts)
       SELECT chain_id, block_number, ts, right(pool, 1)::int, '0x', pool, '0x' || block_number % 7, '0x', '0x', 0, sale, true,
              CASE WHEN sale THEN amount0 ELSE -amount0 END, CASE WHEN sale THEN -amount1 ELSE amount1 END, '{}'
       FROM seeded;
     INSERT INTO pool_activity (chain_id, pool, block_number, block_timestamp, totals)
       SELECT chain_id, pool, block_number, ts,
              ARRAY[count(*) OVER sofar, count(*) OVER sofar, 0, 0, 0,
                coalesce(sum(amount0) FILTER (WHERE sale) OVER sofar, 0), coalesce(sum(amount1) FILTER (WHERE NOT sale) OVER sofar, 0),
                coalesce(sum(amount0) FILTER (WHERE NOT sale) OVER sofar, 0), coalesce(sum(amount1) FILTER (WHERE sale) OVER sofar, 0)]
              || array_fill(0::numeric, ARRAY[20])
       FROM seeded WINDOW sofar AS (PARTITION BY chain_id, pool ORDER BY ts);
     INSERT INTO history.fill (chain_id, block_number, log_index, transaction_hash, pool, block_timestamp, zero_for_one, in_raw,
         parent_hash, is_final, quoted_out_raw)
       SELECT chain_id, block_number, right(pool, 1)::int, '0x', pool, ts, sale, CASE WHEN sale THEN amount0 ELSE amount1 END, '0x', true,
              CASE WHEN sale THEN amount1 ELSE amount0 END + block_number % 5
       FROM seeded WHERE block_number % 2 = 0 AND block_number % 11 <> 1;
     INSERT INTO history.quote_minute
       SELECT chain_id, pool, ts, block_number, CASE WHEN sale THEN 'healthy' ELSE 'feed_down' END,
              CASE WHEN sale THEN bid END, CASE WHEN sale THEN bid + 1 + block_number % 2 END, false
       FROM seeded, LATERAL (SELECT least(amount1, 99 * 10::numeric ^ 37 + block_number) AS bid) q;
     INSERT INTO history.fiat_price_minute
       SELECT chain_id, '${TOKEN0}', ts - ts % 60, 1 + block_number / 7.0, 'static' FROM seeded WHERE pool = '${POOLS[0]}';
     INSERT INTO history.fiat_price_hour
       SELECT DISTINCT ON (chain_id, ts / 3600) chain_id, '${TOKEN0}', ts - ts % 3600, 2, '=source' FROM seeded;
     INSERT INTO history.persistence_day
       SELECT chain_id, pool, ts / ${DAY} * ${DAY}, side, horizon, count(*), -0.25, 10000, 0.5, 0.25, 0.125, 1 / 3.0,
              CASE WHEN side = 'asks' THEN 0.1 END
       FROM seeded, unnest(ARRAY['bids', 'asks']) side, unnest(ARRAY['1_block', '200_ms']) horizon GROUP BY 1, 2, 3, 4, 5;
     RESET search_path`,
  );
  const finalise = async (timestamp: number) => {
    for (const chainId of CHAINS) await setIndexedBlock(client, { chainId, number: 1_000, timestamp, isFinal: true });
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    await writeTradeMinutes(pool);
    await pool.end();
  };
  await finalise(START + 2.5 * DAY);
  return {
    ...database,
    finalise,
    addMinutes: async (count) => {
      await client.query(
        `INSERT INTO history.trade_bar
         SELECT '${ONCHAIN_SCHEMA}', ${CHAINS[0]}, '0x' || lpad(to_hex(16777216 + n / 1440), 40, '0'), 60, ${START} + n % 1440 * 60,
                ARRAY[n + 1, 7], ARRAY[n + 1, 7], ARRAY[n + 1, 7], ARRAY[n + 1, 7], n, 7, null, null, 1
         FROM generate_series(0, ${count} - 1) n`,
      );
    },
  };
}
