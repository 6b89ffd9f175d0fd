import pg from 'pg';
import { vi } from 'vitest';
import { inTransaction } from '../../db/transaction.ts';
import { ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { seedAddress, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, type Listing, NOW, openListing } from '../../test/metadata/listing-fixture.ts';
import { classify } from './classify.ts';
import { refreshListing } from './refresh-listing.ts';

/** Of each chain. */
export const POOLS = 8;
export const CHAINS = [CHAIN_A, CHAIN_B] as const;
export const TOKENS = [0x70, 0x71, 0x72].map(seedAddress);
const STOP_LOSS = seedAddress(0x51);
export const INDEX_TABLES = [
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

const tokenOf = (n: number) => seedAddress(0x70 + (n % 3));
const copyOf = (table: string) => `public.${table.replace('.', '_')}`;

/** An index of two chains that changes as the real one does, and the listing of its pools. */
export class ChangingIndex {
  readonly #heads = new Map(CHAINS.map((chainId) => [chainId as number, { number: 1, timestamp: NOW - 10_000 }]));
  readonly #listing: Listing;
  /** A session that no lost connection ends. */
  readonly sql: pg.Client;

  private constructor(listing: Listing, sql: pg.Client) {
    this.#listing = listing;
    this.sql = sql;
  }

  /** Opens one whose pools are remembered. @param ends how it ends */
  static async open(ends: AsyncDisposableStack): Promise<ChangingIndex> {
    const listing = ends.adopt(await openListing(), ({ close }) => close());
    listing.pool.on('error', () => undefined);
    const sql = ends.adopt(new pg.Client({ connectionString: listing.url }), (client) => client.end());
    await sql.connect();
    const index = new ChangingIndex(listing, sql);
    for (const chainId of CHAINS) {
      for (const address of TOKENS) await seedToken(listing.db, { chainId, address, decimals: 2 });
      for (let n = 0; n < POOLS; n += 1) await index.createPool(chainId, n);
    }
    for (const chainId of CHAINS) await index.moveHead(chainId, 999, 10_000);
    for (const table of [...INDEX_TABLES.map(onchain), ...KEPT_TABLES.map(operator)]) {
      await sql.query(`CREATE TABLE ${copyOf(table)} (LIKE ${table})`);
    }
    await index.remember();
    return index;
  }

  #headOf(chainId: number) {
    return this.#heads.get(chainId) ?? { number: 0, timestamp: 0 };
  }

  /** @returns how many pools were computed; null when another refresh runs */
  refresh() {
    return refreshListing({ ...this.#listing.refreshDeps, classify });
  }

  /** Remembers all that the index holds, and what is listed of it. */
  remember(): Promise<void> {
    return this.#copy(
      [...INDEX_TABLES.map(onchain), ...KEPT_TABLES.map(operator)].map((table) => [table, copyOf(table)]),
    );
  }

  /** Restores what was remembered from a dump: the listing too may be older or newer than the index. */
  restore(what: 'index' | 'listing' | 'both'): Promise<void> {
    const tables = [
      ...(what === 'listing' ? [] : INDEX_TABLES.map(onchain)),
      ...(what === 'index' ? [] : KEPT_TABLES.map(operator)),
    ];
    return this.#copy(tables.map((table) => [copyOf(table), table]));
  }

  async moveHead(chainId: number, blocks: number, secs: number): Promise<void> {
    const { number, timestamp } = this.#headOf(chainId);
    const head = { number: number + blocks, timestamp: timestamp + secs };
    this.#heads.set(chainId, head);
    await setIndexedBlock(this.sql, { chainId, ...head });
  }

  async createPool(chainId: number, n: number): Promise<void> {
    const token0 = tokenOf(n);
    const token1 = tokenOf(n + 1 + (n % 2));
    const { number, timestamp } = this.#headOf(chainId);
    const stamp = { blockNumber: number, blockTimestamp: timestamp };
    const pool = {
      chainId,
      address: seedAddress(0x1000 + n),
      token0,
      token1,
      priceProvider: seedAddress(0x9 + n),
      ...stamp,
    };
    await seedPools(this.#listing.db, [{ pool, state: stamp }]);
  }

  /** As the indexer writes a second of a pool: its state, and a row of totals that add up. */
  async trade(chainId: number, n: number, liquidity: number, gain: number): Promise<void> {
    const { number, timestamp } = this.#headOf(chainId);
    const key = [chainId, seedAddress(0x1000 + n), number, timestamp];
    const { rowCount } = await this.sql.query(
      `UPDATE ${ONCHAIN_SCHEMA}.pool_state SET block_number = $3, block_timestamp = $4,
         total0_scaled = $5::numeric, total1_scaled = ($5::numeric * 7) % 1000,
         activity_totals = (SELECT array_agg(total + $6::numeric) FROM unnest(activity_totals) AS total)
       WHERE chain_id = $1 AND pool = $2`,
      [...key, liquidity, gain],
    );
    if (rowCount === 0) return;
    await this.sql.query(
      `INSERT INTO ${ONCHAIN_SCHEMA}.pool_activity (chain_id, pool, block_number, block_timestamp, totals)
       SELECT chain_id, pool, $3::int8, $4::int8, activity_totals FROM ${ONCHAIN_SCHEMA}.pool_state WHERE chain_id = $1 AND pool = $2
       ON CONFLICT (chain_id, pool, block_timestamp) DO UPDATE SET totals = excluded.totals`,
      key,
    );
  }

  /**
   * What the index held when it was remembered is there again, and rows that it did not hold are gone;
   * others stay untouched.
   */
  async reorganise(): Promise<void> {
    for (const table of INDEX_TABLES.map(onchain)) {
      await this.sql.query(`
        DELETE FROM ${table} t WHERE NOT EXISTS (SELECT FROM ${copyOf(table)} s WHERE s = t);
        INSERT INTO ${table} SELECT * FROM ${copyOf(table)} s WHERE NOT EXISTS (SELECT FROM ${table} t WHERE t = s)`);
    }
  }

  /**
   * Ends the sessions of a refresh at some moment of it, and waits until they are gone: one may end after the refresh.
   */
  async loseConnections(): Promise<void> {
    const lost = this.sql.query<{ pid: number }>(`SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`);
    await Promise.allSettled([this.refresh(), lost]);
    const pids = (await lost).rows.map(({ pid }) => pid);
    await vi.waitUntil(async () => {
      const { rows } = await this.sql.query('SELECT FROM pg_stat_activity WHERE pid = ANY($1)', [pids]);
      return rows.length === 0;
    });
  }

  /** A transaction that begins before another one, and a refresh, commits after them. */
  async commitLate(chainId: number, n: number): Promise<void> {
    const change = (client: Pick<pg.Client, 'query'>, pool: number, bin: number) =>
      client.query(`UPDATE ${onchain('pool_state')} SET cur_bin_idx = $3 WHERE chain_id = $1 AND pool = $2`, [
        chainId,
        seedAddress(0x1000 + pool),
        bin,
      ]);
    await inTransaction(this.#listing.pool, 'READ COMMITTED', async (late) => {
      await change(late, n, 2);
      await change(this.sql, n + 1, 4);
      await this.refresh();
    });
  }

  /** A late setting of a stop loss or an allowlist: a row that only a reorganisation takes away. */
  async setExtension(table: 'stop_loss' | 'allowlist', chainId: number, n: number): Promise<void> {
    const pool = seedAddress(0x1000 + n);
    const address = table === 'stop_loss' ? STOP_LOSS : seedAddress(0x53);
    const place = [chainId, pool, address];
    await this.sql.query(
      `INSERT INTO ${onchain('pool_extension')} (chain_id, pool, "position", address, phases, block_number, block_timestamp)
       SELECT $1, $2, $4, $3, '{beforeAddLiquidity,afterSwap}', 1, 1 ON CONFLICT DO NOTHING`,
      [...place, table === 'stop_loss' ? 1 : 2],
    );
    const [columns, values] =
      table === 'stop_loss' ? ['drawdown_e6', '150000'] : ['action, allow_all', "'deposit', true"];
    await this.sql.query(
      `INSERT INTO ${onchain(table)} (chain_id, address, pool, ${columns}, block_number, block_timestamp)
       VALUES ($1, $3, $2, ${values}, 1, 1) ON CONFLICT DO NOTHING`,
      place,
    );
  }

  /** All that is published, but for the number and times of the refresh. */
  async published(): Promise<unknown> {
    const tables = LISTING_TABLES.map(async (name) => {
      const { rows } = await this.sql.query(
        `SELECT (to_jsonb(t) - '{generation,generated_at_ts,classified_at}'::text[])::text AS row FROM operator.${name} t ORDER BY 1`,
      );
      return [name, rows.map(({ row }) => row)];
    });
    return Object.fromEntries(await Promise.all(tables));
  }

  /** What a first refresh makes of the database; what was published stays. */
  async computedWhole(): Promise<unknown> {
    for (const name of KEPT_TABLES) await this.sql.query(`CREATE TEMP TABLE kept_${name} AS TABLE operator.${name}`);
    // The window stays: it does not go back by less than a minute.
    for (const name of KEPT_TABLES) if (name !== 'listing_window') await this.sql.query(`DELETE FROM operator.${name}`);
    await this.refresh();
    const whole = await this.published();
    for (const name of KEPT_TABLES) {
      await this.sql.query(
        `DELETE FROM operator.${name}; INSERT INTO operator.${name} TABLE kept_${name}; DROP TABLE kept_${name}`,
      );
    }
    return whole;
  }

  /** Replaces all rows of tables by those of others, in one transaction. */
  async #copy(tables: readonly (readonly [from: string, to: string])[]): Promise<void> {
    await inTransaction(this.#listing.pool, 'READ COMMITTED', async (client) => {
      for (const [from, to] of tables) await client.query(`DELETE FROM ${to}; INSERT INTO ${to} TABLE ${from}`);
    });
  }
}
