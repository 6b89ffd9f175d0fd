import { bindRoutes } from '../../api/declaration/api-route.ts';
import { compressed } from '../../api/http/ready-body.ts';
import { metadataResource } from '../../api/metadata/metadata.ts';
import { openDatabase } from '../../db/connection.ts';
import { createLogger } from '../../runtime/logger.ts';
import { serveMeasured } from '../serve-measured.ts';
import { createBenchApp } from './bench-app.ts';
import { CHAINS_FILE } from './market.ts';

/** The API with its listing, and beside it the cheapest thing that the same stack can do with the same database. */
serveMeasured(async ({ databaseUrl }: { readonly databaseUrl: string }) => {
  const { $client: database } = openDatabase(databaseUrl, 'ptd_api', createLogger('bench', 'error'));
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  const routes = bindRoutes(metadataResource, {
    chains,
    database,
    statusMaxAgeSecs: 86_400,
    now: () => performance.now(),
  });
  const app = createBenchApp(routes, (it) =>
    it.get('/public/v1/bare/:pool', compressed, async (c) => {
      const { rows } = await database.query({
        name: 'bare',
        text: 'SELECT pool, tier FROM operator.pool_listing WHERE chain_id = $1 AND pool = $2',
        values: [8453, c.req.param('pool')],
      });
      return c.json(rows[0]);
    }),
  );
  return [app];
});
