import type pg from 'pg';

type Query = string | { readonly text: string; readonly values?: unknown[] };

/** Statements that read; others, as those of a transaction, have no plan. */
const READS = /^\s*(SELECT|WITH)\b/i;

/** A database whose queries are explained before they run, and how many blocks they read since the last look. */
export function countBlocks(database: pg.Pool): { readonly database: pg.Pool; readonly take: () => number } {
  let blocks = 0;
  const counting = <Of extends pg.Pool | pg.PoolClient>(of: Of): Of => {
    const query = async (statement: Query, values?: unknown[]) => {
      const { text, values: own } = typeof statement === 'string' ? { text: statement } : statement;
      if (READS.test(text)) {
        const { rows } = await of.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values ?? own);
        const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
        blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      }
      return of.query(text, values ?? own);
    };
    return Object.assign(Object.create(of), { query });
  };
  const take = () => {
    const taken = blocks;
    blocks = 0;
    return taken;
  };
  const connect = async () => counting(await database.connect());
  return { database: Object.assign(counting(database), { connect }), take };
}
