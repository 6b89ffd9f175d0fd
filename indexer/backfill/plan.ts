import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type pg from 'pg';
import { AppError } from '../../config/app-error.ts';
import { ConfigError } from '../../config/config-error.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { backfills } from '../../db/schema/operator.ts';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { listIndexSchemas, nextSchemaName, wasReplaced } from '../publication/index-schemas.ts';
import { deleteCachedLogs } from '../publication/ponder-tables.ts';
import { tryLockCache } from '../publication/schema-lock.ts';
import { assertIndexOrFree, dropSchema } from './drop.ts';

export type BackfillPlan = {
  /** The schema that is filled. */
  readonly schema: string;
  /** The schema that readers see until the new one is filled; null when no index serves yet. */
  readonly replaces: string | null;
  /** Ids of the chains whose logs are fetched from their nodes again. */
  readonly refetched: readonly number[];
  /** Of a repair, how many in a row it makes that were for one difference of a chain; 0 of others. */
  readonly attempt: number;
  /** Whether this run continues an interrupted one. */
  readonly resumed: boolean;
};

export type PlanRequest = {
  /** The operator's choice. Without it, the schema of an unfinished run is used, or a new name. */
  readonly schema?: string | undefined;
  /** Ids of the chains to fetch again, ascending; null when the operator did not name any. */
  readonly refetch: readonly number[] | null;
  /**
   * Of a repair: first block to fetch again, by chain id; else the first one. A repair continues an unfinished run of
   * any chains, but no way back to an index that served: what still differs then is for the next one.
   */
  readonly fromBlocks?: ReadonlyMap<number, number> | undefined;
  /** Of a repair, by chain id: how many in a row it makes that were for one difference. */
  readonly attempts?: ReadonlyMap<number, number> | undefined;
  /** Gives up an unfinished run instead of continuing it. */
  readonly fresh: boolean;
};

/** The cached logs cannot be removed: an indexer that has not caught up yet reads them. */
export class ReadersOfCacheError extends AppError {
  readonly code = 'CACHE_IN_USE';
  readonly retryable = true;
}

/**
 * Decides which schema to fill. Records the plan before any work begins, so that a killed run can continue. Removes the
 * cached logs of the chains to fetch again: an indexer that has caught up no longer reads the cache.
 *
 * @throws ConfigError when the schema already serves, or was begun for other chains; ReadersOfCacheError
 */
export async function planBackfill(
  database: pg.Pool,
  { schema: chosen, refetch, fromBlocks, attempts, fresh }: PlanRequest,
): Promise<BackfillPlan> {
  const schemas = await listIndexSchemas(database);
  const names = schemas.map(({ name }) => name);
  const replaces = schemas.find(({ served }) => served)?.name ?? null;
  const found = await findUnfinished(database, chosen);
  // An operator began to turn back to an earlier index. It may be of other code, and it is not the one to repair.
  const isWayBack = found !== null && fromBlocks !== undefined && (await wasReplaced(database, found.schema));
  const unfinished = isWayBack ? null : found;
  const schema = chosen ?? unfinished?.schema ?? nextSchemaName(replaces, names);
  if (schema === replaces) throw new ConfigError(`--schema: readers are served from "${schema}" already`);
  if (unfinished !== null && !fresh) {
    const refetched = unfinished.refetchedChains;
    if (refetch === null || fromBlocks || refetch.join() === refetched.join())
      return { schema, replaces, refetched, attempt: unfinished.attempt, resumed: true };
    const begun = refetched.length > 0 ? `with --chains ${refetched.join(',')}` : 'without --chains';
    throw new ConfigError(`--chains: the unfinished backfill into "${schema}" was begun ${begun}; --fresh gives it up`);
  }
  const refetched = refetch ?? [];
  const ofChains = attempts ? refetched.map((chainId) => attempts.get(chainId) ?? 1) : [];
  const attempt = Math.max(0, ...ofChains);
  if (fresh) await dropSchema(database, schema);
  else if (refetched.length > 0 && names.includes(schema)) {
    throw new ConfigError(`--chains: "${schema}" has rows of these chains already; --fresh removes it first`);
  }
  await assertIndexOrFree(database, schema);
  await inTransaction(database, 'READ COMMITTED', async (client) => {
    const chosenChains = { refetchedChains: [...refetched], attempt, attempts: ofChains };
    const row = { ...chosenChains, begunAt: sql`now()`, servedAt: null, replaced: null };
    await queriesOn(client)
      .insert(backfills)
      .values({ schema, ...row })
      .onConflictDoUpdate({ target: backfills.schema, set: row });
    if (refetched.length === 0) return;
    if (!(await tryLockCache(client))) {
      const message = 'an indexer that has not caught up yet reads the cached logs';
      throw new ReadersOfCacheError(`${message}: try again when its /ready answers 200`);
    }
    await deleteCachedLogs(client, new Map(refetched.map((chainId) => [chainId, fromBlocks?.get(chainId) ?? 0])));
  });
  return { schema, replaces, refetched, attempt, resumed: false };
}

/**
 * Whether the index of a plan has nothing but rows of an unfinished run: none that served once,
 * nor one that was chosen.
 */
export const isUnfinished = async (
  database: Queryable,
  { schema, resumed }: BackfillPlan,
  { schema: chosen }: PlanRequest,
) => resumed && chosen === undefined && !(await wasReplaced(database, schema));

/** Records that the index serves now. Called in the transaction that switches readers to it. */
export async function recordServed(client: Queryable, { schema, replaces }: BackfillPlan): Promise<void> {
  await queriesOn(client)
    .update(backfills)
    .set({ servedAt: sql`now()`, replaced: replaces })
    .where(eq(backfills.schema, schema));
}

/**
 * The turns of nodes in the backfill that fills a schema, by chain id: of a repair that is not the first one, so that
 * another node is asked. Empty for others.
 */
export async function readNodeTurns(database: Queryable, schema: string): Promise<ReadonlyMap<number, number>> {
  const unfinished = await findUnfinished(database, schema);
  const { refetchedChains = [], attempts = [] } = unfinished ?? {};
  const turns = refetchedChains.map((chainId, place) => [chainId, (attempts[place] ?? 0) - 2] as const);
  return new Map(turns.filter(([, turn]) => turn >= 0));
}

async function findUnfinished(database: Queryable, schema: string | undefined) {
  const isChosen = schema === undefined ? undefined : eq(backfills.schema, schema);
  const [row] = await queriesOn(database)
    .select()
    .from(backfills)
    .where(and(isNull(backfills.servedAt), isChosen))
    .orderBy(desc(backfills.begunAt))
    .limit(1);
  return row ?? null;
}
