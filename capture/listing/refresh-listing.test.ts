import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { inTransaction } from '../../db/transaction.ts';
import { createOnchainTables, ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { seedAddress, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, type Listing, NOW, openListing } from '../../test/metadata/listing-fixture.ts';
import { classify } from './classify.ts';
import { refreshListing } from './refresh-listing.ts';

const ROUNDS = runs(30);
const POOLS = 8;
const CHAINS = [CHAIN_A, CHAIN_B] as const;
const TOKENS = [0x70, 0x71, 0x72].map(seedAddress);
const STOP_LOSS = seedAddress(0x51);
const INDEX_TABLES = [
  'pool',
  'pool_state',
  'pool_activity',
  'pool_extension',
  'stop_loss',
  'allowlist',
  'token',
  'price_provider',
  'price_provider_setting',
] as const;
const LISTING_TABLES = [
  'pool_listing',
  'listed_pool',
  'listing_price',
  'listing_window',
  'pool_classification',
] as const;
const KEPT_TABLES = [...LISTING_TABLES, 'listing_source'] as const;
const onchain = (name: string) => `${ONCHAIN_SCHEMA}.${name}`;
const operator = (name: string) => `operator.${name}`;

let listing: Listing;
let sql: pg.Client;
let heads: Map<number, { number: number; timestamp: number }>;

beforeAll(async () => {
  listing = await openListing();
  listing.pool.on('error', () => undefined);
  sql = new pg.Client({ connectionString: listing.url });
  await sql.connect();
  heads = new Map(CHAINS.map((chainId) => [chainId, { number: 1, timestamp: NOW - 10_000 }]));
  for (const chainId of CHAINS) {
    for (const address of TOKENS) await seedToken(listing.db, { chainId, address, decimals: 2 });
    for (let n = 0; n < POOLS; n += 1) await createPool(chainId, n);
  }
  for (const chainId of CHAINS) await moveHead(chainId, 999, 10_000);
  for (const table of [...INDEX_TABLES.map(onchain), ...KEPT_TABLES.map(operator)]) {
    await sql.query(`CREATE TABLE ${copyOf(table)} (LIKE ${table})`);
  }
  await remember();
});

afterAll(async () => {
  await sql.end();
  await listing.close();
});

const headOf = (chainId: number) => heads.get(chainId) ?? { number: 0, timestamp: 0 };

async function moveHead(chainId: number, blocks: number, secs: number): Promise<void> {
  const { number, timestamp } = headOf(chainId);
  const head = { number: number + blocks, timestamp: timestamp + secs };
  heads.set(chainId, head);
  await setIndexedBlock(sql, { chainId, ...head });
}

const tokenOf = (n: number) => seedAddress(0x70 + (n % 3));

async function createPool(chainId: number, n: number): Promise<void> {
  const token0 = tokenOf(n);
  const token1 = tokenOf(n + 1 + (n % 2));
  const { number, timestamp } = headOf(chainId);
  const stamp = { blockNumber: number, blockTimestamp: timestamp };
  const pool = {
    chainId,
    address: seedAddress(0x1000 + n),
    token0,
    token1,
    priceProvider: seedAddress(0x9 + n),
    ...stamp,
  };
  await seedPools(listing.db, [{ pool, state: stamp }]);
}

/** As the indexer writes a second of a pool: its state, and a row of totals that add up. */
async function trade(chainId: number, n: number, liquidity: number, gain: number): Promise<void> {
  const { number, timestamp } = headOf(chainId);
  const key = [chainId, seedAddress(0x1000 + n), number, timestamp];
  const { rowCount } = await sql.query(
    `UPDATE ${ONCHAIN_SCHEMA}.pool_state SET block_number = $3, block_timestamp = $4,
       total0_scaled = $5::numeric, total1_scaled = ($5::numeric * 7) % 1000,
       activity_totals = (SELECT array_agg(total + $6::numeric) FROM unnest(activity_totals) AS total)
     WHERE chain_id = $1 AND pool = $2`,
    [...key, liquidity, gain],
  );
  if (rowCount === 0) return;
  await sql.query(
    `INSERT INTO ${ONCHAIN_SCHEMA}.pool_activity (chain_id, pool, block_number, block_timestamp, totals)
     SELECT chain_id, pool, $3::int8, $4::int8, activity_totals FROM ${ONCHAIN_SCHEMA}.pool_state WHERE chain_id = $1 AND pool = $2
     ON CONFLICT (chain_id, pool, block_timestamp) DO UPDATE SET totals = excluded.totals`,
    key,
  );
}

const copyOf = (table: string) => `public.${table.replace('.', '_')}`;

/** Replaces all rows of tables by those of others, in one transaction. */
async function copy(tables: readonly (readonly [from: string, to: string])[]): Promise<void> {
  await inTransaction(listing.pool, 'READ COMMITTED', async (client) => {
    for (const [from, to] of tables) await client.query(`DELETE FROM ${to}; INSERT INTO ${to} TABLE ${from}`);
  });
}

/** Remembers all that the index holds, and what is listed of it. */
const remember = () =>
  copy([...INDEX_TABLES.map(onchain), ...KEPT_TABLES.map(operator)].map((table) => [table, copyOf(table)]));

/**
 * What the index held when it was remembered is there again, and rows that it did not hold are gone;
 * others stay untouched.
 */
async function reorganise(): Promise<void> {
  for (const table of INDEX_TABLES.map(onchain)) {
    await sql.query(`
      DELETE FROM ${table} t WHERE NOT EXISTS (SELECT FROM ${copyOf(table)} s WHERE s = t);
      INSERT INTO ${table} SELECT * FROM ${copyOf(table)} s WHERE NOT EXISTS (SELECT FROM ${table} t WHERE t = s)`);
  }
}

/** The database is restored from a dump: the listing too may be older or newer than the index. */
const restore = (tables: readonly string[]) => copy(tables.map((table) => [copyOf(table), table]));

/**
 * Ends the sessions of a refresh at some moment of it, and waits until they are gone: one may end after the refresh.
 */
async function loseConnections(): Promise<void> {
  const lost = sql.query<{ pid: number }>(`SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`);
  await Promise.allSettled([refresh(), lost]);
  const pids = (await lost).rows.map(({ pid }) => pid);
  await vi.waitUntil(async () => {
    const { rows } = await sql.query('SELECT FROM pg_stat_activity WHERE pid = ANY($1)', [pids]);
    return rows.length === 0;
  });
}

/** A transaction that begins before another one, and a refresh, commits after them. */
async function commitLate(chainId: number, n: number): Promise<void> {
  const change = (client: Pick<pg.Client, 'query'>, pool: number, bin: number) =>
    client.query(`UPDATE ${onchain('pool_state')} SET cur_bin_idx = $3 WHERE chain_id = $1 AND pool = $2`, [
      chainId,
      seedAddress(0x1000 + pool),
      bin,
    ]);
  await inTransaction(listing.pool, 'READ COMMITTED', async (late) => {
    await change(late, n, 2);
    await change(sql, n + 1, 4);
    await refresh();
  });
}

/** A late setting of a stop loss or an allowlist: a row that only a reorganisation takes away. */
async function setExtension(table: 'stop_loss' | 'allowlist', chainId: number, n: number): Promise<void> {
  const pool = seedAddress(0x1000 + n);
  const address = table === 'stop_loss' ? STOP_LOSS : seedAddress(0x53);
  const place = [chainId, pool, address];
  await sql.query(
    `INSERT INTO ${onchain('pool_extension')} (chain_id, pool, "position", address, phases, block_number, block_timestamp)
     SELECT $1, $2, $4, $3, '{beforeAddLiquidity,afterSwap}', 1, 1 ON CONFLICT DO NOTHING`,
    [...place, table === 'stop_loss' ? 1 : 2],
  );
  const [columns, values] =
    table === 'stop_loss' ? ['drawdown_e6', '150000'] : ['action, allow_all', "'deposit', true"];
  await sql.query(
    `INSERT INTO ${onchain(table)} (chain_id, address, pool, ${columns}, block_number, block_timestamp)
     VALUES ($1, $3, $2, ${values}, 1, 1) ON CONFLICT DO NOTHING`,
    place,
  );
}

const chain = fc.constantFrom(...CHAINS);
const n = fc.integer({ min: 0, max: POOLS + 3 });
const token = fc.constantFrom(...TOKENS);
const run = (action: () => Promise<unknown>) => action;

/** Something that happens between two refreshes. */
const anyAction = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(chain, n, fc.constantFrom(0, 1, 3, 100, 5_000), fc.integer({ min: 1, max: 900 }))
      .map(([chainId, pool, liquidity, gain]) => run(() => trade(chainId, pool, liquidity, gain))),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(1, 20, 3_600, 40_000, 86_400, 700_000).map((secs) =>
      run(async () => {
        for (const chainId of CHAINS) await moveHead(chainId, 1, secs);
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(chain, fc.constantFrom(-70, -5, 1, 30, 59, 100))
      .map(([chainId, secs]) => run(() => moveHead(chainId, Math.sign(secs), secs))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(chain, token, fc.constantFrom(0, 0.1, 1, 2_000), fc.constantFrom(0, 0, 601, 86_401))
      .map(([chainId, address, usd, age]) =>
        run(() =>
          sql.query(
            `INSERT INTO operator.fiat_price VALUES ($1, $2, $3, 'static', to_timestamp($4))
       ON CONFLICT (chain_id, token) DO UPDATE SET usd = excluded.usd, priced_at = excluded.priced_at`,
            [chainId, address, usd, Date.now() / 1_000 - age],
          ),
        ),
      ),
  },
  { weight: 5, arbitrary: fc.constant(run(reorganise)) },
  { weight: 3, arbitrary: fc.constant(run(remember)) },
  { weight: 1, arbitrary: fc.constant(run(() => restore(INDEX_TABLES.map(onchain)))) },
  { weight: 1, arbitrary: fc.constant(run(() => restore(KEPT_TABLES.map(operator)))) },
  {
    weight: 1,
    arbitrary: fc.constant(run(() => restore([...INDEX_TABLES.map(onchain), ...KEPT_TABLES.map(operator)]))),
  },
  { weight: 1, arbitrary: fc.constant(run(loseConnections)) },
  { weight: 2, arbitrary: fc.tuple(chain, n).map(([chainId, pool]) => run(() => commitLate(chainId, pool))) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('stop_loss' as const, 'allowlist' as const), chain, n)
      .map((setting) => run(() => setExtension(...setting))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(chain, fc.integer({ min: POOLS, max: POOLS + 3 }))
      .map(([chainId, pool]) => run(() => createPool(chainId, pool).catch(() => undefined))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(chain, n, fc.integer({ min: 1, max: 3 }))
      .map(([chainId, pool, admin]) =>
        run(() =>
          sql.query(`UPDATE ${ONCHAIN_SCHEMA}.pool SET admin = $3 WHERE chain_id = $1 AND address = $2`, [
            chainId,
            seedAddress(0x1000 + pool),
            seedAddress(admin),
          ]),
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(chain, n, fc.constantFrom('anchored', 'regular')).map(([chainId, pool, kind]) =>
      run(() =>
        sql.query(
          `INSERT INTO ${ONCHAIN_SCHEMA}.price_provider (chain_id, address, kind, factory, creator, oracle, base, quote, margin_step,
       base_feed_id, block_number, block_timestamp) VALUES ($1, $2, $3, $2, $2, $2, $2, $2, 1, $4, 1, 1)
     ON CONFLICT (chain_id, address) DO UPDATE SET kind = excluded.kind`,
          [chainId, seedAddress(0x9 + pool), kind, `0x${'ab'.repeat(32)}`],
        ),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(chain, token, fc.constantFrom('A', 'B'))
      .map(([chainId, address, symbol]) =>
        run(() =>
          sql.query(`UPDATE ${ONCHAIN_SCHEMA}.token SET symbol = $3 WHERE chain_id = $1 AND address = $2`, [
            chainId,
            address,
            symbol,
          ]),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(chain, fc.integer({ min: 1, max: 3 }), fc.boolean()).map(([chainId, admin, verified]) =>
      run(() =>
        sql.query(
          `INSERT INTO operator.curator (chain_id, address, username, verified) VALUES ($1, $2, 'Alice', $3)
     ON CONFLICT (chain_id, address) DO UPDATE SET verified = excluded.verified`,
          [chainId, seedAddress(admin), verified],
        ),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('curator', 'delisted_pool')
      .map((name) => run(() => sql.query(`DELETE FROM operator.${name}`))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(chain, n)
      .map(([chainId, pool]) =>
        run(() =>
          sql.query(`INSERT INTO operator.delisted_pool (chain_id, pool) VALUES ($1, $2) ON CONFLICT DO NOTHING`, [
            chainId,
            seedAddress(0x1000 + pool),
          ]),
        ),
      ),
  },
);

/** All that is published, but for the number and times of the refresh. */
async function published(): Promise<unknown> {
  const tables = LISTING_TABLES.map(async (name) => {
    const { rows } = await sql.query(
      `SELECT (to_jsonb(t) - '{generation,generated_at_ts,classified_at}'::text[])::text AS row FROM operator.${name} t ORDER BY 1`,
    );
    return [name, rows.map(({ row }) => row)];
  });
  return Object.fromEntries(await Promise.all(tables));
}

/** What a first refresh makes of the database; what was published stays. */
async function computedWhole(): Promise<unknown> {
  for (const name of KEPT_TABLES) await sql.query(`CREATE TEMP TABLE kept_${name} AS TABLE operator.${name}`);
  // The window stays: it does not go back by less than a minute.
  for (const name of KEPT_TABLES) if (name !== 'listing_window') await sql.query(`DELETE FROM operator.${name}`);
  await refresh();
  const whole = await published();
  for (const name of KEPT_TABLES) {
    await sql.query(
      `DELETE FROM operator.${name}; INSERT INTO operator.${name} TABLE kept_${name}; DROP TABLE kept_${name}`,
    );
  }
  return whole;
}

const refresh = () => refreshListing({ ...listing.refreshDeps, classify });

test('after any changes the listing is what a computation of every pool gives', { timeout: 120_000 }, async () => {
  await refresh();
  let count = 0;
  for (const actions of fc.sample(fc.array(anyAction, { minLength: 1, maxLength: 3 }), ROUNDS)) {
    for (const action of actions) await action();
    count += (await refresh()) ?? 0;
    expect(await published()).toEqual(await computedWhole());
  }
  // A pool is computed because it changed.
  expect(count).toBeLessThan((ROUNDS * POOLS * CHAINS.length) / 2);
});

test('once another index serves, the listing is what that one reports', async () => {
  await createOnchainTables(sql, 'onchain_next');
  for (const name of [...INDEX_TABLES, '_ponder_checkpoint']) {
    await sql.query(`INSERT INTO onchain_next.${name} TABLE ${ONCHAIN_SCHEMA}.${name}`);
  }
  await sql.query(`UPDATE onchain_next.pool_state SET cur_bin_idx = 3; DELETE FROM onchain_next.pool
    WHERE address = (SELECT min(address) FROM onchain_next.pool)`);
  await refresh();
  const shown = await published();
  expect(shown).toEqual(await computedWhole());
});
