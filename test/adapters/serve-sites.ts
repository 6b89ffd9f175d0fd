import { Hono } from 'hono';
import type pg from 'pg';
import { Registry } from 'prom-client';
import { adaptersResource } from '../../api/adapters/adapters.ts';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { mountHandlers } from '../harness/mount-handlers.ts';
import type { AskSite } from './walk-site.ts';

export interface ServedSites {
  readonly app: Hono;
  /** Asks as sites of a chain do. */
  readonly askOf: (chainId: number) => AskSite;
}

/** The adapters of listing sites over an index. */
export function serveSites(database: pg.Pool, chains: readonly ChainConfig[]): ServedSites {
  const app = new Hono();
  const served = new Map(chains.map((chain) => [chain.chainId, chain]));
  mountHandlers(app, bindRoutes(adaptersResource, { chains: served, database, metrics: new Registry() }));
  const askOf = (chainId: number) => async (path: string) => {
    const response = await app.request(`/adapters/dexscreener/${chainId}/${path}`);
    return { status: response.status, json: await response.json() };
  };
  return { app, askOf };
}
