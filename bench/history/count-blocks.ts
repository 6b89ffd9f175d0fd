import type pg from 'pg';

type Query = string | { readonly text: string; readonly values?: unknown[] };

/** A database whose queries are explained before they run, and how many blocks they read since the last look. */
export function countBlocks(database: pg.Pool): { readonly database: pg.Pool; readonly take: () => number } {
  let blocks = 0;
  const query = async (statement: Query, values?: unknown[]) => {
    const { text, values: own } = typeof statement === 'string' ? { text: statement } : statement;
    const { rows } = await database.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values ?? own);
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
    blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    return database.query(text, values ?? own);
  };
  const take = () => {
    const taken = blocks;
    blocks = 0;
    return taken;
  };
  return { database: Object.assign(Object.create(database), { query }), take };
}
