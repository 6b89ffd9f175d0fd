import { beforeAll, expect, test } from 'vitest';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { CROSS_CHAIN_SORTS, SORTS } from '../listing/query-string.ts';

const POOLS_OF_CHAIN = 1_300;
const SEEDED_AT_ONCE = 130;
/** In the midst, at the end of one chain and of both, and beyond. */
const OFFSETS = [499, 777, 1_250, 1_299, 1_300, 1_301, 2_345, 2_599, 2_600, 9_000_000];
const COUNT = 60;

const NAMES = new Map(CHAINS_FILE.chains.map(({ chainId, name }) => [chainId, name]));

const listing = startedWorld(openListing);

/** Pools whose sort keys have many ties, extremes and unknown values. */
beforeAll(async () => {
  for (const chainId of [CHAIN_A, CHAIN_B]) {
    for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId, address });
    for (let first = 0; first < POOLS_OF_CHAIN; first += SEEDED_AT_ONCE) {
      const addresses = Array.from({ length: SEEDED_AT_ONCE }, (_, n) => seedAddress(0x1000 + first + n));
      await seedPools(
        listing.db,
        addresses.map((address) => ({ pool: { chainId, address } })),
      );
    }
  }
  await listing.refresh();
  await listing.pool.query(`
    SELECT setseed(0.5);
    UPDATE operator.pool_listing SET
      created_block_number = floor(random() * 3),
      tier_rank = 1 + floor(random() * 3),
      tvl_fiat = ${anyOf('NULL', '0', '1e-9', '0.1', '12.5', '1.7976931348623157e308')},
      volume_fiat = ${anyOf('NULL', '0', '3.3333333333333335')},
      apr_bps = ${anyOf('NULL', '-0.5', '0.1', '250')},
      apr_bps_7d = NULL;
    UPDATE operator.pool_listing SET shown_tvl_fiat = tvl_fiat, shown_volume_fiat = volume_fiat;
    INSERT INTO operator.pool_trend SELECT chain_id, pool,
      ${anyOf('NULL', '-1e30', '0', '12', '12.5')}, ${anyOf('NULL', '0', '0.1')} FROM operator.pool_listing WHERE random() < 0.9;
    INSERT INTO operator.pool_persistence SELECT chain_id, pool, 0, ${anyOf('-0.5', '0', '12', '10000')}, 0 FROM operator.pool_listing
      WHERE random() < 0.9`);
});

const anyOf = (...values: readonly string[]) =>
  `(ARRAY[${values.join()}]::float8[])[1 + floor(random() * ${values.length})]`;

type Row = Readonly<Record<string, number | string | null>>;
type Order = 'asc' | 'desc';

const SORT_KEYS: Readonly<Record<(typeof SORTS)[number], readonly string[]>> = {
  tiered: ['tier_rank', 'tvl_fiat'],
  tvl: ['tvl_fiat'],
  created: ['created_block_number'],
  volume: ['volume_fiat', 'tvl_fiat'],
  apr: ['apr_bps'],
  apr7d: ['apr_bps_7d'],
  change: ['change_e6'],
  depth: ['depth_fiat'],
  persistence: ['p95_bps'],
};

/** Everything in order, by comparing rows here. */
async function expectedOrder(sort: (typeof SORTS)[number], order: Order, chains: readonly number[]): Promise<string[]> {
  const { rows } = await listing.pool.query<Row>(
    'SELECT *, chain_id::int AS chain_id, created_block_number::int AS created_block_number FROM operator.pool_listing LEFT JOIN operator.pool_trend USING (chain_id, pool) LEFT JOIN operator.pool_persistence USING (chain_id, pool)',
  );
  const columns = [
    ...SORT_KEYS[sort].map((name) => [name, order] as const),
    ['pool', 'asc'],
    ['chain_id', 'asc'],
  ] as const;
  const compare = (one: Row, other: Row): number => {
    for (const [name, direction] of columns) {
      const [a, b] = [one[name] ?? null, other[name] ?? null];
      if (a === b) continue;
      if (a === null || b === null) return a === null ? 1 : -1;
      return (a < b ? -1 : 1) * (direction === 'asc' ? 1 : -1);
    }
    return 0;
  };
  const found = rows.filter(({ chain_id }) => chains.includes(Number(chain_id)));
  return found.sort(compare).map(({ chain_id, pool }) => `${NAMES.get(Number(chain_id))}:${pool}`);
}

type Page = {
  readonly data: readonly { readonly chain: string; readonly poolAddress: string }[];
  readonly total: number;
  readonly nextOffset: number | null;
  readonly sums?: Readonly<Record<string, number | null>>;
};

const ask = async (path: string) => (await (await listing.app.request(`/public/v1/${path}`)).json()) as Page;
const keysOf = ({ data }: Page) => data.map(({ chain, poolAddress }) => `${chain}:${poolAddress}`);

const ofOneChain = SORTS.map((sort) => ({ sort, chains: [CHAIN_A], path: `evm/${CHAIN_A}/metadata` }));
const ofSeveral = CROSS_CHAIN_SORTS.map((sort) => ({ sort, chains: [CHAIN_A, CHAIN_B], path: 'evm/metadata' }));
const lists = [...ofOneChain, ...ofSeveral].flatMap((list) =>
  (['asc', 'desc'] as const).map((order) => ({ ...list, order })),
);

test.each(lists)(
  'deep pages by $sort $order of $chains are parts of the whole list',
  async ({ sort, order, chains, path }) => {
    const all = await expectedOrder(sort, order, chains);
    expect(new Set(all).size).toBe(POOLS_OF_CHAIN * chains.length);
    for (const offset of OFFSETS) {
      const query = `minTvlFiat=0&sortBy=${sort}&sortOrder=${order}&count=${COUNT}&offset=${offset}`;
      const page = await ask(`${path}?${query}`);
      const end = offset + COUNT;
      expect(keysOf(page)).toEqual(all.slice(offset, end));
      expect([page.total, page.nextOffset]).toEqual([all.length, end < all.length ? end : null]);
    }
  },
);

test('deep pages of a filter are parts of what matches', async () => {
  const filter = 'minTvlFiat=0.05&sortBy=tvl';
  const pages = await Promise.all([0, 499].map((offset) => ask(`evm/metadata?${filter}&count=500&offset=${offset}`)));
  const first = [...keysOf(pages[0] as Page), ...keysOf(pages[1] as Page).slice(1)];
  expect(new Set(first).size).toBe(999);
  for (const offset of [500, 700, 990]) {
    const page = await ask(`evm/metadata?${filter}&count=9&offset=${offset}`);
    expect(keysOf(page)).toEqual(first.slice(offset, offset + 9));
    expect(page.total).toBe(pages[0]?.total);
  }
});

test('sums of extreme figures are numbers', async () => {
  const { sums } = await ask('evm/metadata?minTvlFiat=0&include24h=true&count=1');
  const { rows } = await listing.pool.query<{ volume: number; huge: number }>(
    `SELECT sum(volume_fiat) AS volume, count(*) FILTER (WHERE tvl_fiat > 1e300)::int AS huge FROM operator.pool_listing`,
  );
  expect(sums?.volumeFiat).toBeCloseTo(Number(rows[0]?.volume), 6);
  expect(Number(sums?.tvlFiat) / 1e300).toBeCloseTo(Number(rows[0]?.huge), 6);
});
