import { expect, test } from 'vitest';
import { DEFAULT_MIN_TVL_FIAT } from '../../db/listing/default-floor.ts';
import type { PoolExtension } from '../../quoting/pools/pool-directory.ts';
import { flatPool, numberedAddress } from '../../quoting/pools/served-pool.fixture.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { toListingQuery } from '../listing/query.ts';
import { MAX_WILDCARD_POOLS } from '../sockets/pool-lists.ts';
import { createPoolChooser } from './choose-pools.ts';
import { publicQuery } from './levels-query.ts';

const listing = startedWorld(openListing);
const restricted: PoolExtension = { address: numberedAddress(9), kind: 'swapAllowlist', phases: ['beforeSwap'] };

/** What pools hold, USD, by number. */
const HELD = new Map([
  [100, DEFAULT_MIN_TVL_FIAT],
  [101, DEFAULT_MIN_TVL_FIAT - 1],
  [102, 5_000],
  [103, 40],
  [104, 9_000],
]);
const UNLISTED = 105;
const ALLOWLISTED = 104;

test('who has no key and chooses nothing sees listed pools above the default floor that trade with anyone, the most valuable first', async () => {
  const { db, pool, refresh } = listing;
  const [chain] = CHAINS_FILE.chains;
  if (!chain) throw new Error('there is no chain');
  for (const address of [TOKEN0, TOKEN1]) await seedToken(db, { chainId: CHAIN_A, address });
  await pool.query(
    `INSERT INTO operator.fiat_price VALUES ($1, $2, 1, 'static', now()), ($1, $3, 1, 'static', now())`,
    [CHAIN_A, TOKEN0, TOKEN1],
  );
  const seeded = [...HELD].map(([number, usd]) => ({
    pool: { chainId: CHAIN_A, address: numberedAddress(number) },
    state: { total0Scaled: BigInt(usd) * 10n ** 18n },
  }));
  await seedPools(db, seeded);
  await refresh();
  const served = [...HELD.keys(), UNLISTED].map((number) =>
    flatPool(number, { chainId: CHAIN_A, extensions: number === ALLOWLISTED ? [restricted] : [] }),
  );
  const choose = createPoolChooser({ directory: fixedDirectory(served), database: pool });
  const chosen = await choose(chain, publicQuery('builder', 'live'));
  expect(chosen.map(({ address }) => address)).toEqual([102, 103, 100].map(numberedAddress));
});

test('a filter that leaves more pools than a client may get is refused, the public frame is not', async () => {
  const { db, pool, refresh } = listing;
  const [chain] = CHAINS_FILE.chains;
  if (!chain) throw new Error('there is no chain');
  const numbers = Array.from({ length: MAX_WILDCARD_POOLS + 1 }, (_, n) => 1_000 + n);
  for (let from = 0; from < numbers.length; from += 500)
    await seedPools(
      db,
      numbers.slice(from, from + 500).map((number) => ({
        pool: { chainId: CHAIN_A, address: numberedAddress(number) },
        state: { total0Scaled: 100n * 10n ** 18n },
      })),
    );
  await refresh();
  const directory = fixedDirectory(numbers.map((number) => flatPool(number, { chainId: CHAIN_A })));
  const choose = createPoolChooser({ directory, database: pool });
  const filtered = (minTvlFiat: number) => toListingQuery({ minTvlFiat }, ['tiered']);
  await expect(choose(chain, { pools: null, listed: filtered(50) })).rejects.toMatchObject({ status: 400 });
  expect(await choose(chain, { pools: null, listed: filtered(500) })).toEqual([]);
  expect((await choose(chain, publicQuery('builder', 'live'))).length).toBeGreaterThan(300);
});
