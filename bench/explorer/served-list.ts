import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createListingRefresh } from '../../capture/listing/refresh-listing.ts';
import { createRegistry } from '../../capture/pools/operator-registry.ts';
import { migrate } from '../../db/migrate.ts';
import { startOwnProcess } from '../../devnet/services/own-process.ts';
import { startPostgres } from '../../devnet/services/postgres.ts';
import { startRedis } from '../../devnet/services/redis.ts';
import { createTempFolder } from '../../devnet/services/temp-folder.ts';
import { freePort } from '../../runtime/free-port.ts';
import { createOnchainTables, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { CHAINS_FILE, MARKET } from '../listing/market.ts';
import { seedPools } from '../listing/seed.ts';

const HOST = '127.0.0.1';

/** The API with its web page over a listing of so many pools; no node answers, so that rows stay without live prices. */
export async function serveList(pools: number): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const [postgres, redis, folder] = await Promise.all([startPostgres(), startRedis(), createTempFolder('explorer')]);
  await fillListing(postgres.url, pools);
  const config = join(folder.path, 'chains.json');
  await writeFile(config, JSON.stringify(CHAINS_FILE));
  const port = await freePort();
  const url = `http://${HOST}:${port}`;
  const api = await startOwnProcess({
    main: 'api/main.ts',
    env: {
      ...{ CHAINS_CONFIG: config, DATABASE_URL: postgres.url, DATABASE_REPLICA_URL: undefined, REDIS_URL: redis.url },
      ...{ HOST, PORT: String(port), LOG_LEVEL: 'fatal', EXPLORER: 'on', PRICE_STATUS_MAX_AGE_SECS: '86400' },
    },
    ready: `${url}/health`,
  });
  return {
    url,
    stop: async () => {
      await api.stop();
      await Promise.all([postgres.stop(), redis.stop(), folder.remove()]);
    },
  };
}

async function fillListing(databaseUrl: string, pools: number): Promise<void> {
  const database = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  const now = Math.floor(Date.now() / 1_000);
  try {
    await migrate(databaseUrl);
    await createOnchainTables(database, MARKET.schema);
    for (const chainId of MARKET.chainIds) {
      await setIndexedBlock(database, { chainId, number: 2_000_000, timestamp: now }, MARKET.schema);
    }
    await seedPools(database, now, pools / MARKET.chainIds.length);
    const refresh = createListingRefresh({
      database,
      registry: createRegistry(CHAINS_FILE),
      findBlockAt: async (_, indexed) => indexed.number - 86_400,
      fiatMaxAgeSecs: 86_400,
    });
    await refresh();
    await database.query('VACUUM ANALYZE');
  } finally {
    await database.end();
  }
}
