import fc from 'fast-check';
import { Hono } from 'hono';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writePools, writeWindows } from '../../capture/listing/write-listing.ts';
import { createMigratedDatabase } from '../../test/harness/database.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import {
  CHAIN_A,
  CHAIN_B,
  chains,
  persistenceOf,
  persistences,
  pools,
  trendOf,
  trends,
} from './listed-pools.fixture.ts';
import { anyQuery, anyScope, isReleaseKnown, matching, type Query, type Scope } from './listing-queries.fixture.ts';
import { metadataResource } from './metadata.ts';

const database = startedWorld(createMigratedDatabase);
let client: pg.Pool;
let app: Hono;

beforeAll(async () => {
  client = new pg.Pool({ connectionString: database.url, max: 2 });
  await writePools(
    client,
    pools.map((listed) => ({ chainId: listed.chainId, pool: listed.pool, listed, classification: null, source: null })),
  );
  await client.query(
    `INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at)
     SELECT chain_id, pool, 'healthy', 1, 1, now() FROM operator.pool_listing`,
  );
  for (const [{ chainId, pool }, { changeE6, depthFiat, isOld }] of trends) {
    await client.query(`INSERT INTO operator.pool_trend VALUES ($1, $2, $3, $4, now() - make_interval(hours => $5))`, [
      chainId,
      pool,
      changeE6,
      depthFiat,
      isOld ? 25 : 23,
    ]);
  }
  for (const [{ chainId, pool }, { isOld, ...held }] of persistences) {
    await client.query(
      'INSERT INTO operator.pool_persistence VALUES ($1, $2, $3, $4, $5, $6, now() - make_interval(hours => $7))',
      [chainId, pool, held.medianBps, held.p95Bps, held.withdrawnShare, held.goneShare, isOld ? 25 : 23],
    );
  }
  const window = { fromTs: 0, toTs: 86_400, fromBlock: 1, toBlock: 9 };
  await writeWindows(
    client,
    chains.map(({ chainId }) => ({ chainId, ...window })),
    [],
    1,
  );
  app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  const served = new Map(chains.map((config) => [config.chainId, config]));
  mountHandlers(
    app,
    bindRoutes(metadataResource, {
      chains: served,
      database: client,
      statusMaxAgeSecs: 86_400,
      now: () => performance.now(),
    }),
  );
});

afterAll(() => client.end());

function ask(query: Query, scope: Scope): Response | Promise<Response> {
  const parameters = new URLSearchParams(query);
  if (Array.isArray(scope)) parameters.set('chainIds', scope.join(','));
  const path = typeof scope === 'number' ? `${scope}/metadata` : 'metadata';
  return app.request(`/public/v1/evm/${path}?${parameters}`);
}

/** To twelve digits, by hundredths: no figure has more decimals. */
function sumOf(figures: readonly (number | null)[]) {
  const known = figures.filter((figure) => figure !== null);
  const inCents = (figure: number) =>
    Number.isInteger(figure) ? 100n * BigInt(figure) : BigInt(Math.round(figure * 100));
  const cents = known.reduce((sum, figure) => sum + inCents(figure), 0n);
  const sum = Number(`${cents}e-2`);
  return known.length === 0 ? null : expect.closeTo(sum, 12 - Math.ceil(Math.log10(1 + sum)));
}

test('any query gets the very page that the contract describes', async () => {
  await fc.assert(
    fc.asyncProperty(anyQuery, anyScope, async (query, scope) => {
      const response = await ask(query, scope);
      const isCreatedAcross = query.sortBy?.toLowerCase() === 'created' && typeof scope !== 'number';
      if (isCreatedAcross || (query.addresses && query.blacklistedOnly === 'true')) {
        expect(response.status).toBe(400);
        return;
      }
      expect(response.status).toBe(isReleaseKnown(query, scope) ? 200 : 404);
      if (response.status === 404) return;
      const all = matching(query, scope);
      const [start, count] = [Number(query.offset ?? 0), Math.min(Math.max(Number(query.count ?? 50), 1), 500)];
      const rows = all.slice(start, start + count);
      const isLast = rows.length === 0 || start + count >= all.length;
      const { data, total, nextOffset, sums } = (await response.json()) as {
        data: object[];
        total: number;
        nextOffset: unknown;
        sums?: unknown;
      };
      expect(data).toEqual(
        rows.map((pool) => ({
          ...JSON.parse(pool.record),
          priceProviderStatus: 'healthy',
          swapGas: { token0In: null, token1In: null },
          token0FiatPrice: null,
          token1FiatPrice: null,
          ...(query.include24h === 'true' && {
            tvlFiat: pool.shownTvlFiat,
            executability: { committedShare: null, liveShare: null, ownLandedShare: null, sealedShare: null },
            trend24h: trendOf(pool),
            persistence24h: persistenceOf(pool),
            analytics24h: expect.objectContaining({ fromTs: 0, toTs: 86_400, tvlFiat: pool.shownTvlFiat }),
          }),
        })),
      );
      expect([total, nextOffset]).toEqual([all.length, isLast ? null : start + count]);
      expect(sums).toEqual(
        query.include24h === 'true'
          ? {
              tvlFiat: sumOf(all.map(({ shownTvlFiat }) => shownTvlFiat)),
              volumeFiat: sumOf(all.map(({ shownVolumeFiat }) => shownVolumeFiat)),
              depthFiat: sumOf(all.map((pool) => trendOf(pool).depthFiat)),
            }
          : undefined,
      );
    }),
    { numRuns: runs(150) },
  );
});

test('a release that no chain asked for has enabled gives 404, whatever other chains have', async () => {
  const statusOf = async (path: string) => (await app.request(`/public/v1/evm/${path}`)).status;
  const cases = [
    [200, `${CHAIN_A}/metadata?contract_version=v2`],
    [404, `${CHAIN_B}/metadata?contract_version=v2`],
    [404, `${CHAIN_A}/metadata?contract_version=removed`],
    [200, 'metadata?contract_version=v2'],
    [200, `metadata?contract_version=v2&chainIds=${CHAIN_A},${CHAIN_B}`],
    [404, `metadata?contract_version=v2&chainIds=${CHAIN_B}`],
    [404, `metadata?contract_version=v2&chainIds=${CHAIN_B},999`],
    [200, 'metadata?contract_version=v2&chainIds=999'],
    [404, 'metadata?contract_version=removed&chainIds=999'],
  ] as const;
  for (const [status, path] of cases) expect([path, await statusOf(path)]).toEqual([path, status]);
});

test('a page has at most 500 pools, whatever is asked for', async () => {
  const all = matching({ minTvlFiat: '0' }, null);
  expect(all.length).toBeGreaterThan(501);
  for (const count of ['500', '501', '99999999999999999999']) {
    const response = await ask({ count, minTvlFiat: '0' }, null);
    expect(await response.json()).toMatchObject({ data: { length: 500 }, total: all.length, nextOffset: 500 });
  }
});
