import { Hono } from 'hono';
import pg from 'pg';
import { expect, test } from 'vitest';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../../api/errors.ts';
import { metadataResource } from '../../api/metadata/metadata.ts';
import { migrate } from '../../db/migrate.ts';
import { startPostgres } from '../../local/services/postgres.ts';
import { mountHandlers } from '../harness/mount-handlers.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { CHAIN_A, CHAINS_FILE } from './listing-fixture.ts';

const postgres = startedWorld(startPostgres);
const world = openWorld(async (ends) => {
  const database = new pg.Pool({ connectionString: postgres.url, max: 2, connectionTimeoutMillis: 10_000 });
  ends.defer(() => database.end());
  // Idle connections that die with the server are replaced by the next query.
  database.on('error', () => undefined);
  const app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  mountHandlers(
    app,
    bindRoutes(metadataResource, { chains, database, statusMaxAgeSecs: 60, now: () => performance.now() }),
  );
  return { app, database };
});

const ask = async (path = `${CHAIN_A}/metadata`) => {
  const response = await world.app.request(`/public/v1/evm/${path}`);
  return { status: response.status, body: await response.json() };
};
const UNAVAILABLE = { status: 503, body: { error: 'Service temporarily unavailable' } };

test('an empty database, one without a listing, and none at all give 503; errors of the client stay what they are', async () => {
  expect(await ask()).toEqual(UNAVAILABLE);
  await migrate(postgres.url);
  expect(await ask()).toEqual(UNAVAILABLE);
  await postgres.kill();
  expect(await ask()).toEqual(UNAVAILABLE);
  expect((await ask(`${CHAIN_A}/metadata?sortBy=x`)).status).toBe(400);
  expect((await ask('99/metadata')).status).toBe(404);
});

test('it answers again as soon as the database is back', async () => {
  await postgres.restart();
  // A crash of this Postgres, which does not sync, may have taken the tables with it.
  await migrate(postgres.url);
  await world.database.query(
    `INSERT INTO operator.listing_window (chain_id, generation, from_ts, to_ts, from_block, to_block, generated_at_ts)
     VALUES ($1, 1, 0, 86400, 0, 1, 86400)`,
    [CHAIN_A],
  );
  expect(await ask()).toEqual({ status: 200, body: { data: [], total: 0, nextOffset: null } });
});
