import pg from 'pg';
import { refreshListing } from '../../capture/listing/refresh-listing.ts';
import { createRegistry } from '../../capture/pools/operator-registry.ts';
import { migrate } from '../../db/migrate.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { startRedis } from '../../local/services/redis.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { createOnchainTables, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { CHAINS_FILE, MARKET } from '../listing/market.ts';
import { classifyMarket, seedPools } from '../listing/seed.ts';
import { serveApi } from '../serve-api.ts';

/** The API with its web page over a listing of this many pools; no node answers, so that rows stay without live prices. */
export async function serveList(pools: number): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const [postgres, redis, folder] = await Promise.all([startPostgres(), startRedis(), createTempFolder('explorer')]);
  await fillListing(postgres.url, pools);
  const api = await serveApi({
    folder,
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    chainsFile: CHAINS_FILE,
    env: { EXPLORER: 'on' },
  });
  return {
    url: api.url,
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
    await refreshListing({
      database,
      registry: createRegistry(CHAINS_FILE),
      findBlockAt: async (_, indexed) => indexed.number - 86_400,
      fiatMaxAgeSecs: 86_400,
      version: 'bench',
      classify: classifyMarket,
    });
    // Nothing captures prices here: those of the seed stay recent.
    await database.query(`UPDATE operator.price_health SET captured_at = now() + interval '1 day'`);
    await database.query('VACUUM ANALYZE');
  } finally {
    await database.end();
  }
}
