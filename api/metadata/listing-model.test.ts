import fc from 'fast-check';
import { Hono } from 'hono';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ListedPool } from '../../capture/listing/record.ts';
import { writePools, writeWindows } from '../../capture/listing/write-listing.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { migrate } from '../../db/migrate.ts';
import { createDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { metadataResource } from './metadata.ts';

const [CHAIN_A, CHAIN_B] = [31337, 31338];
const TIERS = ['black', 'unclassified', 'red', 'yellow', 'green'] as const;
const SORTS = ['tiered', 'tvl', 'created', 'volume', 'apr', 'apr7d', 'change', 'depth'] as const;
/** More on both chains together than a page may have. */
const POOLS_PER_CHAIN = 700;

/** Each release has the same factory on both chains; that of `removed` is in the listing's rows alone. */
const FACTORIES = { v1: seedAddress(0xf1), v2: seedAddress(0xf2), v3: seedAddress(0xf3), removed: seedAddress(0xf4) };
const RELEASES = ['v1', 'v2', 'v3'] as const;
const ENABLED: Readonly<Record<number, readonly string[]>> = { [CHAIN_A]: ['v1', 'v2'], [CHAIN_B]: ['v1', 'v3'] };
const chain = { rpcUrls: ['http://127.0.0.1:1'], blockTimeMs: 1_000 };
const deployments = (chainId: number) =>
  RELEASES.map((contractVersion) => ({
    layout: 'flat',
    fromBlock: 0,
    contractVersion,
    poolFactory: FACTORIES[contractVersion],
    enabled: ENABLED[chainId]?.includes(contractVersion),
  }));
const { chains } = parseChainsFile(
  {
    chains: [
      { ...chain, chainId: CHAIN_A, name: 'a', deployments: deployments(CHAIN_A) },
      { ...chain, chainId: CHAIN_B, name: 'b', deployments: deployments(CHAIN_B) },
    ],
  },
  'test',
);

/** Few different keys, so that most are equal to others; the same addresses on both chains. */
const pools: readonly ListedPool[] = fc
  .sample(
    fc.record({
      contractVersion: fc.constantFrom(...RELEASES, 'removed' as const),
      createdBlockNumber: fc.integer({ min: 1, max: 9 }),
      tier: fc.constantFrom(...TIERS),
      tvlFiat: fc.constantFrom(null, 0, 9.99, 10, 500.25, 1e22),
      volumeFiat: fc.constantFrom(null, 0, 5, 1_000),
      isShown: fc.constantFrom(true, true, false),
      aprBps: fc.constantFrom(null, 0, 3),
      aprBps7d: fc.constantFrom(null, 0, 700),
      lockedPricing: fc.boolean(),
      depositAllowlist: fc.boolean(),
    }),
    { numRuns: 2 * POOLS_PER_CHAIN, seed: 7 },
  )
  .map(({ isShown, ...keys }, index) => {
    const pool = seedAddress(0x1000 + (index % POOLS_PER_CHAIN));
    const chainId = index < POOLS_PER_CHAIN ? CHAIN_A : CHAIN_B;
    const shown = { chain: chainId === CHAIN_A ? 'a' : 'b', poolAddress: pool };
    return {
      ...keys,
      chainId,
      pool,
      tierRank: TIERS.indexOf(keys.tier),
      factory: FACTORIES[keys.contractVersion],
      token0: seedAddress(1),
      token1: seedAddress(2),
      record: JSON.stringify(shown),
      analytics: JSON.stringify({ tvlFiat: isShown ? keys.tvlFiat : null }),
      searchTerms: [],
      shownTvlFiat: isShown ? keys.tvlFiat : null,
      shownVolumeFiat: isShown ? keys.volumeFiat : null,
      lpFeesFiat: null,
      lpFeesFiat7d: null,
    };
  });

type Trend = { readonly changeE6: number | null; readonly depthFiat: number | null };
const UNKNOWN: Trend = { changeE6: null, depthFiat: null };
/** Of most pools; some have none, or one that is too old. */
const trends = new Map<ListedPool, Trend & { readonly isOld: boolean }>();
const anyTrend = fc.record({
  changeE6: fc.constantFrom(null, -5e30, -1, 0, 250_000),
  depthFiat: fc.constantFrom(null, 0, 0.25, 1e22),
  isOld: fc.constantFrom(true, false, false),
});
for (const [index, trend] of fc.sample(fc.option(anyTrend), { numRuns: pools.length, seed: 8 }).entries()) {
  const pool = pools[index];
  if (pool && trend) trends.set(pool, trend);
}
const trendOf = (pool: ListedPool): Trend => {
  const { isOld, ...trend } = trends.get(pool) ?? { ...UNKNOWN, isOld: true };
  return isOld ? UNKNOWN : trend;
};

let database: TestDatabase;
let client: pg.Pool;
let app: Hono;

beforeAll(async () => {
  database = await createDatabase();
  await migrate(database.url);
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

afterAll(async () => {
  await client.end();
  await database.drop();
});

const mixedCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((letter, index) => (upper[index] ? letter.toUpperCase() : letter)).join(''));
const someOf = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 }).map((some) => some.join(','));
const flag = fc.constantFrom('true', 'false');
const address = fc
  .integer({ min: 0, max: POOLS_PER_CHAIN + 5 })
  .chain((n) => mixedCase(seedAddress(0x1000 + n).slice(2)))
  .map((digits) => `0x${digits}`);

const anyQuery = fc.record(
  {
    count: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(50, 500, 501)).map(String),
    offset: fc.integer({ min: 0, max: 2 * POOLS_PER_CHAIN + 5 }).map(String),
    sortBy: fc.constantFrom(...SORTS).chain(mixedCase),
    sortOrder: fc.constantFrom('asc', 'desc'),
    include24h: flag,
    minTvlFiat: fc.constantFrom('0', '-1', '9.99', '10', '10.01', '5e2', '1e22', '1e23'),
    tier: someOf(['green', 'yellow', 'red']),
    lockedPricingOnly: flag,
    depositAllowlistEnabled: flag,
    blacklistedOnly: flag,
    addresses: fc.array(address, { minLength: 1, maxLength: 40 }).map((all) => all.join(',')),
    contract_version: fc.constantFrom(...RELEASES, 'removed'),
    fiat: fc.constant('USD'),
  },
  { requiredKeys: [] },
);
type Query = typeof anyQuery extends fc.Arbitrary<infer Q> ? Q : never;

/** Chains asked for: one by its path, or some by `chainIds`; null names none. */
const anyScope = fc.oneof(
  fc.constantFrom(CHAIN_A, CHAIN_B),
  fc.constant(null),
  fc.subarray([CHAIN_A, CHAIN_B, 999], { minLength: 1 }),
);
type Scope = typeof anyScope extends fc.Arbitrary<infer S> ? S : never;

const isSelected = (scope: Scope, chainId: number) => scope === null || [scope].flat().includes(chainId);

/** Whether a chain that is asked for has the release, or any chain when none of those asked for is served. */
function isReleaseKnown(query: Query, scope: Scope): boolean {
  const release = query.contract_version;
  const selected = [CHAIN_A, CHAIN_B].filter((chainId) => isSelected(scope, chainId));
  const judges = selected.length > 0 ? selected : [CHAIN_A, CHAIN_B];
  return release === undefined || judges.some((chainId) => ENABLED[chainId]?.includes(release));
}

/** All pools that a query asks for, in order: the contract, told in another way than in SQL. */
function matching(query: Query, scope: Scope): ListedPool[] {
  const named = query.addresses?.toLowerCase().split(',');
  const delistedOnly = query.blacklistedOnly === 'true';
  const floor = Number(query.minTvlFiat ?? (named || delistedOnly ? 0 : 10));
  return pools
    .filter(({ chainId }) => isSelected(scope, chainId))
    .filter(({ chainId, contractVersion }) => ENABLED[chainId]?.includes(contractVersion))
    .filter(({ tier }) => (tier === 'black') === delistedOnly)
    .filter(({ tier }) => query.tier === undefined || query.tier.split(',').includes(tier))
    .filter(({ tvlFiat }) => floor <= 0 || (tvlFiat !== null && tvlFiat >= floor))
    .filter(({ lockedPricing }) => query.lockedPricingOnly !== 'true' || lockedPricing)
    .filter(({ depositAllowlist }) => query.depositAllowlistEnabled !== 'true' || depositAllowlist)
    .filter(({ contractVersion }) => (query.contract_version ?? contractVersion) === contractVersion)
    .filter(({ pool }) => named?.includes(pool) ?? true)
    .sort(inOrder((query.sortBy ?? 'tiered').toLowerCase(), query.sortOrder !== 'asc'));
}

const KEYS: Readonly<Record<string, (pool: ListedPool) => readonly (number | null)[]>> = {
  tiered: ({ tier, tvlFiat }) => [TIERS.indexOf(tier), tvlFiat],
  tvl: ({ tvlFiat }) => [tvlFiat],
  created: ({ createdBlockNumber }) => [createdBlockNumber],
  volume: ({ volumeFiat, tvlFiat }) => [volumeFiat, tvlFiat],
  apr: ({ aprBps }) => [aprBps],
  apr7d: ({ aprBps7d }) => [aprBps7d],
  change: (pool) => [trendOf(pool).changeE6],
  depth: (pool) => [trendOf(pool).depthFiat],
};

/** What is unknown comes last both ways; ties go by address and chain. */
function inOrder(sort: string, isDescending: boolean) {
  const worst = isDescending ? -Infinity : Infinity;
  const keysOf = (pool: ListedPool) => KEYS[sort]?.(pool).map((key) => key ?? worst) ?? [];
  return (a: ListedPool, b: ListedPool): number => {
    const [left, right] = [keysOf(a), keysOf(b)];
    const at = left.findIndex((key, index) => key !== right[index]);
    if (at >= 0) return ((left[at] ?? 0) < (right[at] ?? 0) ? -1 : 1) * (isDescending ? -1 : 1);
    return a.pool === b.pool ? a.chainId - b.chainId : a.pool < b.pool ? -1 : 1;
  };
}

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
          token0FiatPrice: null,
          token1FiatPrice: null,
          ...(query.include24h === 'true' && {
            tvlFiat: pool.shownTvlFiat,
            executability: { committedShare: null, liveShare: null, ownLandedShare: null },
            trend24h: trendOf(pool),
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
