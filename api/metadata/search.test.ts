import { beforeAll, expect, test } from 'vitest';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, openListing } from '../../test/metadata/listing-fixture.ts';

/** By symbol; the last is of a hostile token. */
const TOKENS = {
  WETH: seedAddress(0x70),
  USDC: seedAddress(0x71),
  'wstETH-2': seedAddress(0x72),
  "O'Br\\ien & (x|!y):* <b>": seedAddress(0x73),
} as const;
const LONG = 'É'.repeat(128);
const NAMELESS = seedAddress(0x74);
const LONG_TOKEN = seedAddress(0x75);

const listing = startedWorld(openListing);

beforeAll(async () => {
  const { db } = listing;
  for (const chainId of [CHAIN_A, CHAIN_B]) {
    for (const [symbol, address] of Object.entries(TOKENS)) await seedToken(db, { chainId, address, symbol });
    await seedToken(db, { chainId, address: LONG_TOKEN, symbol: LONG });
    await seedToken(db, { chainId, address: NAMELESS, symbol: null });
  }
  const pairs = [
    [TOKENS.WETH, TOKENS.USDC],
    [TOKENS['wstETH-2'], TOKENS.WETH],
    [TOKENS["O'Br\\ien & (x|!y):* <b>"], TOKENS.USDC],
    [NAMELESS, TOKENS.USDC],
    [LONG_TOKEN, NAMELESS],
  ] as const;
  const poolOf = (chainId: number) =>
    pairs.map(([token0, token1], n) => ({ pool: { chainId, address: seedAddress(0xabc0 + n), token0, token1 } }));
  await seedPools(db, [...poolOf(CHAIN_A), ...poolOf(CHAIN_B).slice(0, 1)]);
  await listing.refresh();
});

/** Last digits of the pools that are found on the first chain. */
async function found(search: string): Promise<string> {
  const { data, total } = await listing.page(CHAIN_A, { search, minTvlFiat: 0 });
  expect(total).toBe(data.length);
  return data
    .map(({ poolAddress }) => poolAddress.slice(-1))
    .sort()
    .join('');
}

test.each([
  ['WETH', '01'],
  ['weth/usdc', '0'],
  ['Usdc/We', '0'],
  ['us', '023'],
  ['eth', ''],
  [' wsteth-2 ', '1'],
  ["o'br\\ien & (", '2'],
  ['o’br', '2'],
  ['usdc/O', '2'],
  ["' | 'w", ''],
  ["':* | '", ''],
  ['éééé', '4'],
  [LONG.slice(0, 64), '4'],
  [seedAddress(0xabc3), '3'],
  [seedAddress(0xabc3).toUpperCase(), '3'],
  [seedAddress(0xabc0).slice(0, 41), '01234'],
  [NAMELESS, '34'],
  ['<b>', ''],
])('%s finds the pools %s', async (search, pools) => {
  expect(await found(search)).toBe(pools);
});

test('it joins the other filters, pages, and the listing across chains', async () => {
  expect((await listing.page(CHAIN_A, { search: 'weth' })).total).toBe(0);
  const first = await listing.page(CHAIN_A, { search: 'us', minTvlFiat: 0, count: 2 });
  expect([first.data.length, first.total, first.nextOffset]).toEqual([2, 3, 2]);
  const across = await listing.pageAcrossChains({ search: 'weth/us', minTvlFiat: 0 });
  expect(across.data.map(({ chain }) => chain).sort()).toEqual(['Devnet-B', 'devnet-a']);
});

test.each(['', 'x', ' y ', 'a'.repeat(65), 'ab%00', 'a%0Ab'])('"%s" is refused', async (text) => {
  const response = await listing.app.request(`/public/v1/evm/${CHAIN_A}/metadata?search=${text}`);
  expect([response.status, await response.json()]).toEqual([
    400,
    { error: 'search must have 2 to 64 printable characters' },
  ]);
});

test('the index on beginnings is used', async () => {
  const client = await listing.pool.connect();
  await client.query('SET enable_seqscan = off');
  const { rows } = await client.query(
    `EXPLAIN SELECT pool FROM operator.listed_pool WHERE array_to_tsvector(search_terms) @@ '''weth'':*'::tsquery`,
  );
  client.release(true);
  expect(JSON.stringify(rows)).toContain('Index Scan on listed_pool_array_to_tsvector_idx');
});
