import { bindRoutes } from '../../api/declaration/api-route.ts';
import { historyResource } from '../../api/history/history.ts';
import { compressed } from '../../api/http/ready-body.ts';
import { udfResource } from '../../api/udf/udf.ts';
import { openDatabase, SHORT_STATEMENTS } from '../../db/connection.ts';
import { createLogger } from '../../runtime/logger.ts';
import { tradedPool } from '../../test/metadata/traded-pool.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { createBenchApp } from '../listing/bench-app.ts';
import { CHAINS_FILE, MARKET } from '../listing/market.ts';
import { serveMeasured } from '../serve-measured.ts';
import { countBlocks } from './count-blocks.ts';
import { POOL } from './pages.ts';

/**
 * The API with its history, and beside it a query of as many rows by their key through the same stack;
 * and one that counts blocks.
 */
serveMeasured(async ({ databaseUrl }: { readonly databaseUrl: string }) => {
  const logger = createLogger('bench', 'error');
  const { $client: database } = openDatabase(databaseUrl, 'ptd_api', logger, { settings: SHORT_STATEMENTS });
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  const directory = fixedDirectory([{ ...tradedPool(POOL), chainId: MARKET.chainIds[0] }]);
  const routesOf = (of: typeof database) => {
    const deps = { chains, directory, database: of, statusMaxAgeSecs: 86_400, wallClock: Date.now };
    return [...bindRoutes(historyResource, deps), ...bindRoutes(udfResource, deps)];
  };
  const bare = createBenchApp(routesOf(database), (app) =>
    app.get('/public/v1/bare/:rows', compressed, async (c) => {
      const { rows } = await database.query({
        name: 'bare',
        text: `SELECT * FROM history.trade_bar WHERE index_schema = '${MARKET.schema}' AND chain_id = $1 AND pool = $2
                 AND secs = 60 ORDER BY start_ts DESC LIMIT $3`,
        values: [MARKET.chainIds[0], POOL, c.req.param('rows')],
      });
      return c.json(rows);
    }),
  );
  const counted = countBlocks(database);
  const counting = createBenchApp(routesOf(counted.database), (app) =>
    app.get('/public/v1/blocks', (c) => c.json(counted.take())),
  );
  return [bare, counting];
});
