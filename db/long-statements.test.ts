import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { migratedDatabase } from '../test/harness/migrated-database.ts';
import { allowLongStatements } from './long-statements.ts';
import { inTransaction } from './transaction.ts';

const home = migratedDatabase();
/** Far longer than any other statement takes on a busy machine. */
const LIMIT_MS = 1_000;
/** Longer than statements of the pool may take. */
const SLEEP = 'SELECT pg_sleep(1.5)';

test('a long statement ends neither by the limit of its session nor by that of the client, only by its own', async () => {
  const check = async (limits: pg.PoolConfig) => {
    const pool = new pg.Pool({ connectionString: home.url, max: 1, ...limits });
    onTestFinished(() => pool.end());
    const run = (limitMs: number) =>
      inTransaction(pool, 'READ COMMITTED', async (client) => {
        const { rowCount } = await (await allowLongStatements(client, limitMs)).query(SLEEP);
        return rowCount;
      });
    await expect(pool.query(SLEEP)).rejects.toThrow(/timeout/);
    expect(await run(60_000)).toBe(1);
    await expect(run(50)).rejects.toThrow('canceling statement due to statement timeout');
    await expect(pool.query(SLEEP)).rejects.toThrow(/timeout/);
  };
  await Promise.all([{ statement_timeout: LIMIT_MS }, { query_timeout: LIMIT_MS }].map(check));
});
