import type { Queryable } from './transaction.ts';

/** The schema of the index that readers see; null while there is no index. */
export async function servedSchema(database: Queryable): Promise<string | null> {
  const { rows } = await database.query<{ schema: string }>('SELECT read_model.served_schema() AS schema');
  return rows[0]?.schema ?? null;
}
