import type pg from 'pg';
import { ConfigError } from '../../config/config-error.ts';
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
    await client.query(
      `INSERT INTO operator.backfill (schema, refetched_chains) VALUES ($1, $2)
       ON CONFLICT (schema) DO UPDATE SET refetched_chains = excluded.refetched_chains,
         begun_at = now(), served_at = NULL, replaced = NULL`,
      [schema, refetched],
    );
    await forgetCachedLogs(client, refetched);
  });
  return { schema, replaces, refetched, resumed: false };
}

/** Records, in the transaction of the switch, that the index serves now. */
export async function recordServed(client: Queryable, { schema, replaces }: BackfillPlan): Promise<void> {
  await client.query('UPDATE operator.backfill SET served_at = now(), replaced = $2 WHERE schema = $1', [
    schema,
    replaces,
  ]);
}

type Unfinished = { readonly schema: string; readonly refetched: readonly number[] };

async function findUnfinished(database: Queryable, schema: string | undefined): Promise<Unfinished | null> {
  const { rows } = await database.query<{ schema: string; chains: string[] }>(
    `SELECT schema, refetched_chains AS chains FROM operator.backfill
     WHERE served_at IS NULL AND ($1::text IS NULL OR schema = $1) ORDER BY begun_at DESC LIMIT 1`,
    [schema ?? null],
  );
  const [row] = rows;
  return row === undefined ? null : { schema: row.schema, refetched: row.chains.map(Number) };
}

function resume({ schema, refetched }: Unfinished, { refetch }: PlanRequest, replaces: string | null): BackfillPlan {
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
