import pg from 'pg';
import { createMigratedDatabase } from './database.ts';
import { openWorld } from './open-world.ts';

/** A migrated database with a pool of its owner's connections, for the tests of one file. */
export const migratedDatabase = () =>
  openWorld(async (ends) => {
    const { url, drop } = await createMigratedDatabase();
    ends.defer(drop);
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => undefined); // Dropping the database ends its sessions.
    ends.defer(() => pool.end());
    return { url, pool };
  });
