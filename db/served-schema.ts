import type { Queryable } from './transaction.ts';

/** The views that readers use are in schema `live`: they rest on the tables of the index that serves. */
const SERVED_SQL = `
  SELECT DISTINCT home.nspname AS schema
  FROM pg_class view
  JOIN pg_rewrite rule ON rule.ev_class = view.oid
  JOIN pg_depend uses ON uses.classid = 'pg_rewrite'::regclass AND uses.objid = rule.oid
    AND uses.refclassid = 'pg_class'::regclass AND uses.refobjid <> view.oid
  JOIN pg_class source ON source.oid = uses.refobjid
  JOIN pg_namespace home ON home.oid = source.relnamespace
  WHERE view.relkind = 'v' AND view.relname = '_ponder_checkpoint' AND view.relnamespace = to_regnamespace('live')`;

/** The schema of the index that readers see, or null while there is no index. */
export async function servedSchema(database: Queryable): Promise<string | null> {
  const { rows } = await database.query<{ schema: string }>(SERVED_SQL);
  return rows[0]?.schema ?? null;
}
