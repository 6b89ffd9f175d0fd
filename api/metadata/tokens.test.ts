import fc from 'fast-check';
import pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { refreshListing } from '../../capture/listing/refresh-listing.ts';
import { createRegistry } from '../../capture/pools/operator-registry.ts';
import { inProcessClient } from '../../test/harness/in-process-client.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { seedAddress, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, CHAINS_FILE, openListing, ROUTED_FACTORY } from '../../test/metadata/listing-fixture.ts';
import type { Page } from '../../test/metadata/listing-reader.ts';
import { TokensPage } from './tokens-declaration.ts';

/** More than a page holds. The first few are in most pools; some have no name, symbol or decimals. */
const TOKENS = 520;
const POOLS = 400;
const tokenAddress = (n: number) => seedAddress(0x70 + n);
const poolAddress = (n: number) => seedAddress(0x10_000 + n);
const LOGOS = [0, 3, 100].map((n) => ({
  chainId: CHAIN_A,
  address: tokenAddress(n),
  logoUrl: `https://cdn.example/${n}.svg`,
}));

const listing = startedWorld(openListing);

beforeAll(async () => {
  const before = await listing.app.request(`/public/v1/evm/${CHAIN_A}/tokens`);
  expect([before.status, await before.json()]).toEqual([503, { error: 'Service temporarily unavailable' }]);
  for (let n = 0; n < TOKENS; n += 1) {
    const unknown = { symbol: n % 7 === 1 ? null : `T${n}`, name: n % 5 === 1 ? null : `Token ${n}` };
    const token = { address: tokenAddress(n), ...unknown, decimals: n % 6 === 1 ? null : n % 19 };
    for (const chainId of n < 9 ? [CHAIN_A, CHAIN_B] : [CHAIN_A]) await seedToken(listing.db, { chainId, ...token });
  }
  await seedPools(
    listing.db,
    Array.from({ length: POOLS }, (_, n) => ({ pool: poolOf(n) })),
  );
  await seedPools(listing.db, [
    { pool: { chainId: CHAIN_B, address: poolAddress(0), token0: tokenAddress(2), token1: tokenAddress(8) } },
  ]);
  await refresh();
});

/** The last ones are of a release that is switched off. */
const poolOf = (n: number) => ({
  chainId: CHAIN_A,
  address: poolAddress(n),
  token0: tokenAddress(n % 4 === 0 ? n % 9 : 9 + n),
  token1: tokenAddress(n % 4 === 0 ? 9 + (n % 30) : n < 300 ? TOKENS - 1 - (n % 120) : n % 9),
  ...(n % 7 === 1 && { factory: ROUTED_FACTORY }),
  ...(n >= POOLS - 20 && { factory: seedAddress(0xf0) }),
});

let refreshes = 0;
const refresh = () => {
  refreshes += 1;
  const registry = createRegistry({
    ...CHAINS_FILE,
    tokens: LOGOS.map((logo) => ({ ...logo, usdPegged: false, feedIds: [] })),
  });
  return refreshListing({ ...listing.refreshDeps, registry, version: `run ${refreshes}` });
};

async function tokens(query: { count?: number; offset?: number } = {}, chainId = CHAIN_A): Promise<TokensPage> {
  const { data, response } = await inProcessClient(listing.app).GET('/public/v1/evm/{chain_id}/tokens', {
    params: { path: { chain_id: chainId }, query },
  });
  expect(response.status).toBe(200);
  return TokensPage.parse(data);
}

/** Walks all pools of the listing and counts their tokens. */
async function countTokens(chainId: number): Promise<TokensPage['data']> {
  const found = new Map<string, TokensPage['data'][number]>();
  const note = (pool: Page['data'][number], side: 0 | 1) => {
    const address = pool[`token${side}`];
    const shown = {
      symbol: pool[`token${side}Symbol`] ?? null,
      name: pool[`token${side}Name`] ?? null,
      decimals: pool[`token${side}Decimals`] ?? null,
      logoUrl: pool[`token${side}LogoUrl`] ?? null,
    };
    const before = found.get(address);
    const routers = new Set([...(before?.routers ?? []), ...(pool.routerAddress ? [pool.routerAddress] : [])]);
    found.set(address, { address, ...shown, pools: (before?.pools ?? 0) + 1, routers: [...routers].sort() });
  };
  for (let offset: number | null = 0; offset !== null; ) {
    const page: Page = await listing.page(chainId, { minTvlFiat: 0, count: 150, offset });
    for (const pool of page.data) for (const side of [0, 1] as const) note(pool, side);
    offset = page.nextOffset;
  }
  return [...found.values()].sort((a, b) => b.pools - a.pools || (a.address < b.address ? -1 : 1));
}

test('pages have the tokens of the pools of the listing, whichever are delisted, at any place and size', async () => {
  const places = fc.record({
    delisted: fc.uniqueArray(fc.nat(POOLS - 1), { maxLength: 200 }),
    pages: fc.array(fc.record({ count: fc.integer({ min: 0, max: 600 }), offset: fc.nat(600) }), {
      minLength: 3,
      maxLength: 5,
    }),
  });
  const seen = { logos: 0, totals: new Set<number>() };
  await fc.assert(
    fc.asyncProperty(places, async ({ delisted, pages }) => {
      await listing.pool.query('DELETE FROM operator.delisted_pool');
      await listing.pool.query('INSERT INTO operator.delisted_pool SELECT $1, unnest($2::text[])', [
        CHAIN_A,
        delisted.map(poolAddress),
      ]);
      await refresh();
      const expected = await countTokens(CHAIN_A);
      for (const query of [{}, ...pages] as { count?: number; offset?: number }[]) {
        const { count = 50, offset = 0 } = query;
        const end = offset + Math.min(Math.max(count, 1), 500);
        const nextOffset = end < expected.length ? end : null;
        const page = await tokens(query);
        expect(page).toEqual({ data: expected.slice(offset, end), total: expected.length, nextOffset });
        seen.logos += page.data.filter(({ logoUrl }) => logoUrl !== null).length;
      }
      seen.totals.add(expected.length);
    }),
    { numRuns: runs(8) },
  );
  expect(seen.logos).toBeGreaterThan(0);
  expect(new Set((await tokens({ count: 500 })).data.map(({ routers }) => routers.length))).toEqual(new Set([0, 1]));
  expect(seen.totals.size).toBeGreaterThan(1);
  expect(await tokens({}, CHAIN_B)).toMatchObject({ data: await countTokens(CHAIN_B), total: 2, nextOffset: null });
});

test('a page is read once per refresh, and caches keep it as they keep the listing', async () => {
  const queries = vi.spyOn(pg.Client.prototype, 'query');
  const reads = () =>
    queries.mock.calls.filter(([statement]) => JSON.stringify(statement).includes('listed_pool')).length;
  await refresh();
  queries.mockClear();
  const ask = () => listing.app.request(`/public/v1/evm/${CHAIN_A}/tokens`);
  const responses = await Promise.all(Array.from({ length: 20 }, ask));
  expect(reads()).toBe(1);
  await listing.pool.query('UPDATE operator.listing_window SET generation = generation + 1');
  const again = await ask();
  expect(reads()).toBe(2);
  queries.mockRestore();
  const pools = await listing.app.request(`/public/v1/evm/${CHAIN_A}/metadata`);
  expect(again.headers.get('Cache-Control')).toBe(pools.headers.get('Cache-Control'));
  expect(again.headers.get('ETag')).toBe(responses[0]?.headers.get('ETag'));
});

test.each([
  ['9/tokens', 404, { error: 'Unknown chainId: 9' }],
  ['x/tokens', 400, { error: 'chain_id must be an integer' }],
  ['9/tokens?count=x', 400, 'count'],
  [`${CHAIN_A}/tokens?offset=1.5`, 400, 'offset'],
  [`${CHAIN_A}/tokens?count=-1`, 400, { error: 'count must not be negative' }],
  [`${CHAIN_A}/tokens?offset=-1`, 400, { error: 'offset must not be negative' }],
])('%s is refused', async (path, status, expected) => {
  const response = await listing.app.request(`/public/v1/evm/${path}`);
  const text = await response.text();
  expect(response.status).toBe(status);
  if (typeof expected === 'string') expect(text).toContain(expected);
  else expect(JSON.parse(text)).toEqual(expected);
});
