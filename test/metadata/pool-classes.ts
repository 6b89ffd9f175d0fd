import pg from 'pg';
import { expect, vi } from 'vitest';
import { captureJobs } from '../../capture/capture-jobs.ts';
import { loadChainsFile } from '../../config/load-chains.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { startIndexer } from '../indexing/indexer-process.ts';

/** Tier and reason codes of a pool. */
export interface PoolClass {
  readonly pool: string;
  readonly tier: string;
  readonly reason_codes: readonly string[];
}

/**
 * Tier and reason codes of each pool, as the real indexer and the scheduled work find them under a chains file.
 *
 * @param pools how many there are
 * @param look looks at the database before it is dropped
 */
export async function classesUnder(
  chainsFile: string,
  pools: number,
  look: (databaseUrl: string) => Promise<void> = async () => undefined,
): Promise<readonly PoolClass[]> {
  const home = await createMigratedDatabase();
  const indexer = await startIndexer({ databaseUrl: home.url, chainsFile });
  const database = new pg.Pool({ connectionString: home.url, max: 4 });
  // So that a pool can be green.
  await database.query(`INSERT INTO operator.curator (chain_id, address, verified)
                        SELECT DISTINCT chain_id, admin, true FROM read_model.pool`);
  const ages = { fiatMaxAgeSecs: 900, statusMaxAgeSecs: 900, llamaUrl: 'http://127.0.0.1:1' };
  const deps = { file: loadChainsFile(chainsFile), database, ...ages, logger: createLogger('test', 'silent') };
  const select = 'SELECT pool, tier, reason_codes FROM operator.pool_classification ORDER BY pool';
  // Packed pools are listed when their storage was read, for which a round has a budget.
  const classes = await vi.waitFor(
    async () => {
      for (const { name, run } of captureJobs(deps)) if (/^(pool-storage|listing)/.test(name)) await run();
      const { rows } = await database.query<PoolClass>(select);
      expect(rows.length).toBe(pools);
      return rows;
    },
    { timeout: 60_000, interval: 500 },
  );
  await look(home.url);
  await Promise.all([database.end(), indexer.stop()]);
  await home.drop();
  return classes;
}
