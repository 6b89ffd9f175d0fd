import pg from 'pg';
import { createMigratedDatabase, type TestDatabase } from './database.ts';
import { createOnchainTables } from './onchain-tables.ts';

export interface IndexedDatabase extends TestDatabase {
  readonly client: pg.Client;
}

/** A migrated database with the indexer's tables, and a client of it, which ends before the database is dropped. */
export async function createIndexedDatabase(): Promise<IndexedDatabase> {
  const { url, drop } = await createMigratedDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await createOnchainTables(client);
  return {
    url,
    client,
    drop: async () => {
      await client.end();
      await drop();
    },
  };
}
