import { refreshMarket, seedMarket } from '../listing/database.ts';
import { CHAINS_FILE, MARKET } from '../listing/market.ts';
import { type MeasuredProcess, startMeasuredService } from '../measured-process.ts';
import { startStores } from '../stores.ts';

/**
 * The API with its web page over a listing of this many pools; no node answers, so that rows stay without live prices.
 */
export async function serveList(pools: number): Promise<MeasuredProcess> {
  const stores = await startStores();
  const databaseUrl = stores.postgres.url;
  const database = await seedMarket(databaseUrl, Math.floor(Date.now() / 1_000), pools / MARKET.chainIds.length);
  await refreshMarket(database);
  // Nothing captures prices here: those of the seed stay recent.
  await database.query(`UPDATE operator.price_health SET captured_at = now() + interval '1 day'`);
  await database.query('VACUUM ANALYZE');
  await database.end();
  return startMeasuredService({ stores, databaseUrl, chainsFile: CHAINS_FILE, env: { EXPLORER: 'on' } });
}
