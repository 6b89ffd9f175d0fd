import type pg from 'pg';

/**
 * Compares two indexes row by row.
 *
 * @returns rows of each table, and those that only one of the two indexes has
 */
export async function compareIndexes(
  database: pg.Pool,
  left: string,
  right: string,
): Promise<Record<string, { readonly rows: number; readonly different: number }>> {
  const { rows: tables } = await database.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND NOT starts_with(tablename, '_') ORDER BY 1`,
    [left],
  );
  const result: Record<string, { rows: number; different: number }> = {};
  for (const { name } of tables) {
    const { rows } = await database.query<{ rows: number; different: number }>(`
      SELECT (SELECT count(*) FROM ${left}."${name}")::int AS rows,
             ((SELECT count(*) FROM (TABLE ${left}."${name}" EXCEPT ALL TABLE ${right}."${name}") AS l)
            + (SELECT count(*) FROM (TABLE ${right}."${name}" EXCEPT ALL TABLE ${left}."${name}") AS r))::int AS different`);
    const [counts] = rows;
    if (counts !== undefined) result[name] = counts;
  }
  return result;
}
