import { chainConfig, quoteWorld } from '../quotes/quote-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { type RouteAppOptions, routeApp } from './route-app.ts';
import { createRouteMarket, type PoolName } from './route-market.ts';

/** For one test file: a chain with the market, and the route endpoints over it. */
export const routeWorld = () =>
  quoteWorld(async (on) => {
    const market = await createRouteMarket(on);
    const directory = fixedDirectory(Object.values(market.pools).map(({ served }) => served));
    const chain = chainConfig(on.chain.chainId, [on.anvil.url]);
    const appWith = (options: Partial<RouteAppOptions> = {}) => routeApp({ chain, directory, ...options });
    const pool = (name: PoolName) => market.pools[name].address;
    return { market, directory, pool, appWith, app: appWith() };
  });
