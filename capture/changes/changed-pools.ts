import type { Address } from 'viem';
import { queriesOn } from '../../db/query-builder.ts';
import { pools } from '../../db/schema/read-model.ts';
import { servedSchema } from '../../db/served-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import { keyColumns, type PoolKey, poolKey } from './pool-key.ts';

/** What a transaction saw of the database, to ask later what was written since. */
export type Mark = {
  /** Schema of the index that served. */
  readonly schema: string;
  /** Differs when another index serves, also one of the same name. */
  readonly index: string;
  /** Oldest transaction that was still running: what it and later ones write counts as written since. */
  readonly xmin: string;
};

/** Rows written by transactions that a mark had not seen, or rows of events after a time (Unix seconds). */
export type Since = { readonly mark: Mark } | { readonly eventsAfter: number };

/** Tables of the index whose rows belong to one pool, with the column that names it. */
const OF_POOL = {
  pool: 'address',
  pool_state: 'pool',
  pool_extension: 'pool',
  stop_loss: 'pool',
  price_velocity: 'pool',
  allowlist: 'pool',
} as const;
export type PoolTable = keyof typeof OF_POOL;

/** Tables of the index whose rows many pools may refer to. */
const SHARED = ['token', 'price_provider', 'price_provider_setting'] as const;

/**
 * Call it in a transaction that has read from a view of `live`: no other index can be served until that ends.
 *
 * @returns null while no index is served
 */
export async function readMark(client: Queryable): Promise<Mark | null> {
  const schema = await servedSchema(client);
  if (schema === null) return null;
  const { rows } = await client.query<{ index: string; xmin: string }>(
    `SELECT $1 || ':' || to_regclass(format('%I.pool', $1::text))::oid AS index,
            pg_snapshot_xmin(pg_current_snapshot())::text AS xmin`,
    [schema],
  );
  return rows[0] ? { schema, ...rows[0] } : null;
}

/** Transactions by which rows' versions can be told apart: Postgres compares them in a circle of twice as many. */
const MOST_BETWEEN = 2n ** 30n;

/** Whether what was written since `before` can be told: the same index serves, and the database was not set back. */
export function isSuccessor({ index, xmin }: Mark, before: Mark): boolean {
  const between = BigInt(xmin) - BigInt(before.xmin);
  return index === before.index && between >= 0n && between < MOST_BETWEEN;
}

/**
 * Pools of which the index has other rows, by these tables and those of their tokens and price providers; rows that are gone
 * do not show. One look at each row's header: some 0.1 s for 100,000 pools.
 */
export async function readChangedPools(
  client: Queryable,
  { schema }: Mark,
  since: Since,
  tables: readonly PoolTable[],
): Promise<Set<PoolKey>> {
  const [condition, value] =
    'mark' in since
      ? ['age(xmin) <= age($1::xid8::xid)', since.mark.xmin]
      : ['block_timestamp > $1::int8', since.eventsAfter];
  const ofPools = tables.map(
    (table) => `SELECT true AS "isPool", chain_id AS "chainId", ${OF_POOL[table]} AS address
                FROM "${schema}".${table} WHERE ${condition}`,
  );
  const shared = SHARED.map((table) => `SELECT false, chain_id, address FROM "${schema}".${table} WHERE ${condition}`);
  const { rows } = await client.query<{ isPool: boolean; chainId: string; address: Address }>(
    [...ofPools, ...shared].join(' UNION '),
    [value],
  );
  const keyOf = ({ chainId, address }: (typeof rows)[number]) => poolKey(Number(chainId), address);
  const changed = new Set(rows.filter(({ isPool }) => isPool).map(keyOf));
  const parts = rows.filter(({ isPool }) => !isPool).map(keyOf);
  for (const key of await readPoolsOf(client, parts)) changed.add(key);
  return changed;
}

/** Every pool of the index. */
export async function readAllPools(client: Queryable): Promise<PoolKey[]> {
  const { chainId, address } = pools;
  const rows = await queriesOn(client).select({ chainId, address }).from(pools).orderBy(chainId, address);
  return rows.map((row) => poolKey(row.chainId, row.address));
}

/** Pools that have one of these as a token, price provider or admin. */
export async function readPoolsOf(client: Queryable, parts: readonly PoolKey[]): Promise<PoolKey[]> {
  if (parts.length === 0) return [];
  const { chainIds, addresses } = keyColumns(parts);
  const columns = ['token0', 'token1', 'price_provider', 'admin'];
  const { rows } = await client.query<{ chainId: string; address: Address }>(
    `WITH part AS MATERIALIZED (SELECT * FROM unnest($1::int8[], $2::text[]) AS part (chain_id, address))
     SELECT chain_id AS "chainId", address FROM live.pool
     WHERE ${columns.map((column) => `(chain_id, ${column}) IN (SELECT * FROM part)`).join(' OR ')}`,
    [chainIds, addresses],
  );
  return rows.map(({ chainId, address }) => poolKey(Number(chainId), address));
}

/** Pools with a row in a table of the operator that was written since a mark. */
export async function readWritten(
  client: Queryable,
  table: 'pool_classification' | 'pool_storage',
  { xmin }: Mark,
): Promise<PoolKey[]> {
  const { rows } = await client.query<{ chainId: string; pool: Address }>(
    `SELECT chain_id AS "chainId", pool FROM operator.${table} WHERE age(xmin) <= age($1::xid8::xid)`,
    [xmin],
  );
  return rows.map(({ chainId, pool }) => poolKey(Number(chainId), pool));
}
