import type { Address } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import { tokenKey } from '../pools/token-key.ts';
import type { FiatPrice, PriceSource, TokensToPrice } from './price-sources.ts';
import { refreshFiatPrices } from './refresh-prices.ts';
import { readTokensToPrice } from './tokens-to-price.ts';

const listing = startedWorld(openListing);

beforeAll(async () => {
  for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId: CHAIN_A, address });
  const state = { total0Scaled: 10n ** 18n, total1Scaled: 10n ** 18n };
  await seedPools(listing.db, [{ pool: { chainId: CHAIN_A, address: seedAddress(0x1000) }, state }]);
});

const [KEY0, KEY1] = [tokenKey(CHAIN_A, TOKEN0), tokenKey(CHAIN_A, TOKEN1)];

/** A source that knows these prices, of so long ago, of the tokens it is asked for; `requested` keeps the questions. */
function sourceOf(prices: Readonly<Record<string, number>>, requested: string[][] = [], ageSecs = 0): PriceSource {
  return async ({ first, others }) => {
    const tokens = [...first, ...others];
    requested.push(tokens);
    const known = tokens.filter((token) => prices[token] !== undefined);
    const priced = known.map((token): [typeof token, FiatPrice] => [
      token,
      { usd: prices[token] ?? 0, source: 'static', pricedAt: new Date(Date.now() - ageSecs * 1000) },
    ]);
    return { prices: new Map(priced), failures: [] };
  };
}

const registry = createRegistry(CHAINS_FILE);
let fundedPools: Parameters<typeof readTokensToPrice>[2] = [];

const refresh = (...sources: PriceSource[]) =>
  refreshFiatPrices({
    database: listing.pool,
    registry,
    tokens: () => readTokensToPrice(listing.pool, registry, fundedPools),
    sources,
    fiatMaxAgeSecs: 600,
    statusMaxAgeSecs: 60,
    wallClock: () => Date.now(),
  });

async function shown() {
  await listing.refresh();
  const [row] = (await listing.page(CHAIN_A, { minTvlFiat: 0, include24h: true })).data;
  return [row?.token0FiatPrice, row?.token1FiatPrice, row?.tvlFiat];
}

test('a price that no token can have is ignored: the next source is asked, and the listing stays whole', async () => {
  await refresh(sourceOf({ [KEY0]: 1e300, [KEY1]: 1 }));
  expect(await shown()).toEqual([null, 1, null]);
  const requested: string[][] = [];
  await refresh(sourceOf({ [KEY0]: Number.NaN, [KEY1]: 1 }), sourceOf({ [KEY0]: 1e15 }, requested));
  expect(requested).toEqual([[KEY0]]);
  expect(await shown()).toEqual([1e15, 1, 1e15 + 1]);
});

test('a price that is too old is ignored: the next source is asked', async () => {
  const requested: string[][] = [];
  await refresh(sourceOf({ [KEY0]: 7 }, [], 601), sourceOf({ [KEY0]: 5, [KEY1]: 1 }, requested, 300));
  expect(requested).toEqual([[KEY0, KEY1]]);
  expect(await shown()).toEqual([5, 1, 6]);
});

test('a source that fails is reported, and what the others know is stored', async () => {
  const failures = [new Error('no answer')];
  const failing: PriceSource = async (tokens) => ({ ...(await sourceOf({ [KEY0]: 3 })(tokens)), failures });
  await expect(refresh(failing, sourceOf({ [KEY0]: 4, [KEY1]: 2 }))).rejects.toThrow('a price source failed');
  expect(await shown()).toEqual([3, 2, 5]);
});

test('tokens of funded pools come first, then tokens that once had a price, then untrusted ones by age', async () => {
  const [old, young, rich] = [0xf3, 0xf1, 0xf2].map(seedAddress) as [Address, Address, Address];
  for (const address of [old, young, rich]) await seedToken(listing.db, { chainId: CHAIN_A, address });
  await listing.pool.query(
    `UPDATE ${ONCHAIN_SCHEMA}.token SET block_timestamp = block_timestamp + 9 WHERE address = $1`,
    [young],
  );
  const isFunded = { chainId: CHAIN_A, isFunded: true, token0: rich, token1: rich };
  fundedPools = [isFunded, { ...isFunded, isFunded: false, token0: young }];
  const requested: TokensToPrice[] = [];
  await refresh(sourceOf({ [KEY0]: 3 }), async (tokens) => {
    requested.push(tokens);
    return { prices: new Map(), failures: [] };
  });
  const [key, keyYoung, keyRich] = [old, young, rich].map((address) => tokenKey(CHAIN_A, address));
  expect(requested).toMatchObject([{ first: [keyRich, KEY1], others: [key, keyYoung] }]);
});
