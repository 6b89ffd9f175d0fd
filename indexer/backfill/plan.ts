import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type pg from 'pg';
import { ConfigError } from '../../config/config-error.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { backfills } from '../../db/schema/operator.ts';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { type IndexSchema, listIndexSchemas, nextSchemaName } from '../publication/index-schemas.ts';
import { forgetCachedLogs } from './cached-logs.ts';
import { assertIndexOrFree, dropSchema } from './drop.ts';

export type BackfillPlan = {
  /** The schema that is filled. */
  readonly schema: string;
  /** The schema that readers see until then. */
  readonly replaces: string | null;
  /** Chains whose logs are fetched from their nodes again. */
  readonly refetched: readonly number[];
  /** An interrupted run goes on. */
  readonly resumed: boolean;
};

export type PlanRequest = {
  /** Chosen by the operator; otherwise an unfinished one, or a new name. */
  readonly schema?: string;
  /** Ids; null when the operator did not say. */
  readonly refetch: readonly number[] | null;
  /** Gives up an unfinished run instead of going on with it. */
  readonly fresh: boolean;
};

/**
 * Decides which schema to fill, and records it before anything is done, so that a run that is killed can go on.
 *
 * @throws ConfigError when the schema serves, or was begun for other chains; ReadersOfCacheError
 */
export async function planBackfill(database: pg.Pool, request: PlanRequest): Promise<BackfillPlan> {
  const schemas = await listIndexSchemas(database);
  const replaces = schemas.find(({ served }) => served)?.name ?? null;
  const unfinished = await findUnfinished(database, request.schema);
  if (unfinished !== null && !request.fresh) return resume(unfinished, request, replaces);
  const schema = request.schema ?? unfinished?.schema ?? nextSchemaName(replaces, namesOf(schemas));
  refuseServed(schema, replaces);
  await assertIndexOrFree(database, schema);
  if (request.fresh) await dropSchema(database, schema);
  const refetched = request.refetch ?? [];
  if (refetched.length > 0 && !request.fresh && namesOf(schemas).includes(schema)) {
    throw new ConfigError(`--chains: "${schema}" has rows of these chains already; --fresh removes it first`);
  }
  await inTransaction(database, 'READ COMMITTED', async (client) => {
    const row = { refetchedChains: [...refetched], begunAt: sql`now()`, servedAt: null, replaced: null };
    await queriesOn(client)
      .insert(backfills)
      .values({ schema, ...row })
      .onConflictDoUpdate({ target: backfills.schema, set: row });
    await forgetCachedLogs(client, refetched);
  });
  return { schema, replaces, refetched, resumed: false };
}

/** Records, in the transaction of the switch, that the index serves now. */
export async function recordServed(client: Queryable, { schema, replaces }: BackfillPlan): Promise<void> {
  await queriesOn(client)
    .update(backfills)
    .set({ servedAt: sql`now()`, replaced: replaces })
    .where(eq(backfills.schema, schema));
}

type Unfinished = Pick<typeof backfills.$inferSelect, 'schema' | 'refetchedChains'>;

async function findUnfinished(database: Queryable, schema: string | undefined): Promise<Unfinished | null> {
  const isChosen = schema === undefined ? undefined : eq(backfills.schema, schema);
  const [row] = await queriesOn(database)
    .select()
    .from(backfills)
    .where(and(isNull(backfills.servedAt), isChosen))
    .orderBy(desc(backfills.begunAt))
    .limit(1);
  return row ?? null;
}

function resume(
  { schema, refetchedChains: refetched }: Unfinished,
  { refetch }: PlanRequest,
  replaces: string | null,
): BackfillPlan {
  refuseServed(schema, replaces);
  if (refetch !== null && !sameNumbers(refetch, refetched)) {
    const begun = refetched.length > 0 ? `with --chains ${refetched.join(',')}` : 'without --chains';
    throw new ConfigError(`--chains: the unfinished backfill into "${schema}" was begun ${begun}; --fresh gives it up`);
  }
  return { schema, replaces, refetched, resumed: true };
}

function refuseServed(schema: string, served: string | null): void {
  if (schema === served) throw new ConfigError(`--schema: readers are served from "${schema}" already`);
}

function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value) => b.includes(value));
}

function namesOf(schemas: readonly IndexSchema[]): string[] {
  return schemas.map(({ name }) => name);
}
