import type pg from 'pg';

/** A connection or a pool of connections: anything that runs a statement. */
export type Queryable = Pick<pg.Pool | pg.PoolClient, 'query'>;

/** Between statements, a lost connection emits an error that would end the process. The next statement fails anyway. */
const ignoreLoss = () => undefined;

/**
 * Runs `work` in a transaction: committed when it resolves, rolled back when it rejects.
 *
 * @throws what `work` rejects with; an error of Postgres
 */
export async function inTransaction<T>(
  database: pg.Pool,
  isolation: 'READ COMMITTED' | 'REPEATABLE READ',
  work: (client: Queryable) => Promise<T>,
): Promise<T> {
  const client = await database.connect();
  let broken: Error | undefined;
  client.on('error', ignoreLoss);
  try {
    await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that cannot roll back is discarded.
    await client.query('ROLLBACK').catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    client.off('error', ignoreLoss);
    client.release(broken);
  }
}
