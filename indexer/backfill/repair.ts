import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { loadStatement } from '../../db/load-statement.ts';
import { allowLongStatements } from '../../db/long-statements.ts';
import { inTransaction } from '../../db/transaction.ts';
import { storedLayout } from '../../protocol/layouts/adapters.ts';

/** A log that one of two indexes lacks: `missing` in the one that served, or `extra` there. */
export interface RepairedLog {
  readonly change: 'missing' | 'extra';
  readonly chainId: number;
  readonly pool: Address;
  readonly blockNumber: number;
  /** Null of the log that creates the pool. */
  readonly logIndex: number | null;
}

/** Settings of a pool that two indexes have otherwise. */
export interface RepairedSettings {
  readonly chainId: number;
  readonly pool: Address;
  /** What holds them: the pool, or an extension of it. */
  readonly contract: Address;
  /** Of an entry of an allowlist. */
  readonly account: Address | null;
  /** Names of columns. */
  readonly settings: readonly string[];
}

/** A factory whose layout is inferred. */
export interface InferredFactory {
  readonly chainId: number;
  readonly factory: Address;
}

/** What is to be repaired. */
export interface Repairs {
  /** By chain id, the first block whose logs are fetched again. */
  readonly fromBlocks: ReadonlyMap<number, number>;
  /** By chain id: 1, or more where repairs before it did not end the same difference. */
  readonly attempts: ReadonlyMap<number, number>;
}

const chainsToRepair = loadStatement<{
  readonly chainId: number;
  readonly fromBlock: number;
  readonly attempt: number;
}>('./chains-to-repair.sql', import.meta.url);
const repairedLogs = loadStatement<RepairedLog>('./repaired-logs.sql', import.meta.url);
const repairedSettings = loadStatement<RepairedSettings>('./repaired-settings.sql', import.meta.url);
/** A repair waits this long for the logs that it names, and again for the settings. */
const NAMING_LIMIT_MS = 300_000;

/**
 * Reads which chains have pools whose index is not what the chain holds. Their logs are fetched again since the last
 * block at which all of them agreed, or since the first one. Empty where nothing differs,
 * and for ten minutes after a backfill began.
 *
 * @param inferred given where an indexer repairs by itself. Leaves out what differed in two comparisons alone, chains
 * that were repaired thrice within a day, what the last repair did not end, for a time that doubles, and what may
 * differ because the layout of one of these factories is read wrongly
 */
export async function readRepairs(database: pg.Pool, inferred?: readonly InferredFactory[]): Promise<Repairs> {
  const factories = inferred ?? [];
  const rows = await chainsToRepair(database, [
    inferred !== undefined,
    factories.map(({ chainId }) => chainId),
    factories.map(({ factory }) => factory),
  ]);
  return {
    fromBlocks: new Map(rows.map(({ chainId, fromBlock }) => [chainId, fromBlock])),
    attempts: new Map(rows.map(({ chainId, attempt }) => [chainId, attempt])),
  };
}

/** The factories of chains whose layout is inferred. */
export const inferredFactories = (chains: readonly Pick<ChainConfig, 'chainId' | 'deployments'>[]): InferredFactory[] =>
  chains.flatMap(({ chainId, deployments }) =>
    deployments.flatMap(({ poolFactory: factory, layout }) => (storedLayout(layout) ? [{ chainId, factory }] : [])),
  );

/** Of an index and of the one that replaces it. */
interface ComparedSchemas {
  readonly before: string;
  readonly after: string;
}

/**
 * Compares pools and their events in two indexes, up to the last final block of the older one:
 * the first 100 that are not in both.
 *
 * @returns null where Postgres does not say within the limit
 */
export async function readRepairedLogs(
  database: pg.Pool,
  { before, after }: ComparedSchemas,
  fromBlocks: ReadonlyMap<number, number>,
  limitMs: number = NAMING_LIMIT_MS,
): Promise<readonly RepairedLog[] | null> {
  const values = [[...fromBlocks.keys()], [...fromBlocks.values()]];
  const read = inTransaction(database, 'READ COMMITTED', async (client) =>
    repairedLogs(await allowLongStatements(client, limitMs), values, { before, after }),
  );
  return read.catch(() => null);
}

/**
 * Compares settings of pools in two indexes, of rows that did not change after the last final block of the older one:
 * the first 100 that are not equal.
 *
 * @returns null where Postgres does not say within the limit
 */
export async function readRepairedSettings(
  database: pg.Pool,
  { before, after }: ComparedSchemas,
  chainIds: readonly number[],
): Promise<readonly RepairedSettings[] | null> {
  const read = inTransaction(database, 'READ COMMITTED', async (client) =>
    repairedSettings(await allowLongStatements(client, NAMING_LIMIT_MS), [chainIds], { before, after }),
  );
  return read.catch(() => null);
}
