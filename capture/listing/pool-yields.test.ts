import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { poolActivity } from '../../indexer/ponder.schema.ts';
import { arrayLiteral } from '../../indexer/schema/number-list.ts';
import { TOTAL, TOTAL_NAMES, type TotalName } from '../../protocol/pool-totals.ts';
import { assertUntil } from '../../test/harness/assert-until.ts';
import { ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { publicQueries } from '../../test/harness/public-queries.ts';
import { seedAddress, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, NOW, openListing } from '../../test/metadata/listing-fixture.ts';
import { refreshListing } from './refresh-listing.ts';

const DAY = 86_400;
const OLD = 30 * DAY;
/** Prices are quarters of a dollar, so that floats hold them exactly. Null: unknown. */
const TOKENS = [
  { address: seedAddress(0x70), symbol: 'WETH', decimals: 18, quarters: 8_002n },
  { address: seedAddress(0x71), symbol: 'USDC', decimals: 6, quarters: 3n },
  { address: seedAddress(0x72), symbol: 'NEW', decimals: 18, quarters: null },
  { address: seedAddress(0x73), symbol: null, decimals: null, quarters: 4n },
] as const;
/** Tokens of each pool, what its liquidity providers own, raw, and its age. */
const POOLS = [
  { tokens: [0, 1], owned: [5n * 10n ** 18n, 7_000_000_000n], ageSecs: OLD },
  { tokens: [1, 0], owned: [1_234_567n, 0n], ageSecs: 7 * DAY },
  { tokens: [0, 1], owned: [0n, 0n], ageSecs: OLD },
  { tokens: [0, 2], owned: [10n ** 18n, 10n ** 18n], ageSecs: OLD },
  { tokens: [0, 2], owned: [10n ** 18n, 0n], ageSecs: DAY - 1 },
  { tokens: [3, 1], owned: [0n, 10n ** 9n], ageSecs: 7 * DAY - 1 },
] as const;
const DELISTED = POOLS.length;
const poolAddress = (n: number) => seedAddress(0x1000 + n);

const listing = startedWorld(openListing);
let analyst: pg.Pool;

beforeAll(async () => {
  analyst = new pg.Pool({ connectionString: listing.url, options: '-c role=analyst', max: 1 });
  analyst.on('error', () => undefined); // Dropping the database ends its sessions.
  for (const { address, symbol, decimals, quarters } of TOKENS) {
    await seedToken(listing.db, { chainId: CHAIN_A, address, symbol, decimals });
    if (quarters === null) continue;
    const row = [CHAIN_A, address, Number(quarters) / 4];
    await listing.pool.query(`INSERT INTO operator.fiat_price VALUES ($1, $2, $3, 'static', now())`, row);
  }
  await seedPools(
    listing.db,
    [...POOLS, POOLS[0]].map(({ tokens, owned, ageSecs }, n) => ({
      pool: {
        chainId: CHAIN_A,
        address: poolAddress(n),
        createdTimestamp: NOW - ageSecs,
        token0: tokenOf(tokens[0]).address,
        token1: tokenOf(tokens[1]).address,
        token0ScaleMultiplier: multiplierOf(tokens[0]),
        token1ScaleMultiplier: multiplierOf(tokens[1]),
      },
      state: {
        total0Scaled: owned[0] * multiplierOf(tokens[0]),
        total1Scaled: owned[1] * multiplierOf(tokens[1]),
      },
    })),
  );
  await listing.pool.query('INSERT INTO operator.delisted_pool VALUES ($1, $2)', [CHAIN_A, poolAddress(DELISTED)]);
});

afterAll(() => analyst?.end());

const tokenOf = (n: number) => TOKENS[n] as (typeof TOKENS)[number];
/** Internal units have 18 decimals. */
const multiplierOf = (n: number) => 10n ** BigInt(18 - (tokenOf(n).decimals ?? 18));

const trades = fc.array(
  fc.record({
    pool: fc.nat(DELISTED),
    agoSecs: fc.oneof(fc.constantFrom(0, DAY - 1, DAY, 7 * DAY - 1, 7 * DAY), fc.integer({ min: 0, max: 10 * DAY })),
    input: fc.constantFrom(0 as const, 1 as const),
    amount: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    feeE4: fc.bigInt({ min: 0n, max: 100n }),
  }),
  { maxLength: 40 },
);
type Trade = typeof trades extends fc.Arbitrary<(infer T)[]> ? T : never;

/** The fee of liquidity providers in internal units. */
const feeOf = ({ pool, input, amount, feeE4 }: Trade) =>
  (amount * multiplierOf((POOLS[pool % DELISTED] ?? POOLS[0]).tokens[input]) * feeE4) / 10_000n;

/** Stores running totals after each second with a trade, as the indexer does. */
async function index(list: readonly Trade[]): Promise<void> {
  await listing.pool.query(`TRUNCATE ${ONCHAIN_SCHEMA}.pool_activity`);
  for (const pool of new Set(list.map((trade) => trade.pool))) {
    const own = list.filter((trade) => trade.pool === pool);
    for (const agoSecs of new Set(own.map((trade) => trade.agoSecs))) {
      const totals = new Map<TotalName, bigint>();
      for (const trade of own.filter((each) => each.agoSecs >= agoSecs)) {
        const [taken, fee] = [`swapIn${trade.input}Raw`, `lpFee${trade.input}Scaled`] as const;
        totals.set(taken, (totals.get(taken) ?? 0n) + trade.amount);
        totals.set(fee, (totals.get(fee) ?? 0n) + feeOf(trade));
      }
      const names = TOTAL_NAMES.toSorted((a, b) => TOTAL[a] - TOTAL[b]);
      const stamp = { chainId: CHAIN_A, pool: poolAddress(pool), blockNumber: 1, blockTimestamp: NOW - agoSecs };
      const row = { ...stamp, totals: arrayLiteral(names.map((name) => totals.get(name) ?? 0n)) };
      await listing.db.insert(poolActivity).values(row);
    }
  }
}

/** Dollars times 4 * 10^18, of amounts with these decimals; null when one that is not zero has no value. */
function dollarsOf(
  amounts: readonly [bigint, bigint],
  tokens: readonly [number, number],
  decimals: (n: number) => number | null,
) {
  const values = amounts.map((amount, side) => {
    const n = tokens[side] as number;
    const [{ quarters }, places] = [tokenOf(n), decimals(n)];
    if (amount === 0n) return 0n;
    return quarters === null || places === null ? null : amount * quarters * 10n ** BigInt(18 - places);
  });
  return values.includes(null) ? null : values.reduce((sum: bigint, value) => sum + (value ?? 0n), 0n);
}

function expected(list: readonly Trade[]) {
  return POOLS.map(({ tokens, owned, ageSecs }, n) => {
    const within = (days: number) => list.filter(({ pool, agoSecs }) => pool === n && agoSecs < days * DAY);
    const sum = (days: number, amountOf: (trade: Trade) => bigint) =>
      [0, 1].map((side) =>
        within(days).reduce((total, trade) => total + (trade.input === side ? amountOf(trade) : 0n), 0n),
      ) as [bigint, bigint];
    const ofToken = (token: number) => tokenOf(token).decimals;
    const internal = tokens.some((token) => ofToken(token) === null) ? null : 18;
    const tvl = dollarsOf(owned, tokens, ofToken);
    const fees = (days: number) => dollarsOf(sum(days, feeOf), tokens, () => internal);
    const percent = (days: number) => {
      const earned = fees(days);
      if (earned === null || tvl === null || tvl === 0n || ageSecs < days * DAY) return null;
      return Number((earned * 365n * 10_000n) / (BigInt(days) * tvl)) / 100;
    };
    const usd = (value: bigint | null) => (value === null ? null : expect.closeTo(Number(value) / 4e18, 5));
    const symbols = tokens.map((token) => tokenOf(token).symbol as string | null);
    const yields = {
      pool: poolAddress(n),
      chain: 'devnet-a',
      project: null,
      symbol: symbols.includes(null) ? null : symbols.join('-'),
      tvlUsd: usd(tvl),
      apyBase: percent(1),
      apyBase7d: percent(7),
      underlyingTokens: tokens.map((token) => tokenOf(token).address),
      volumeUsd1d: usd(
        dollarsOf(
          sum(1, ({ amount }) => amount),
          tokens,
          ofToken,
        ),
      ),
      volumeUsd7d: usd(
        dollarsOf(
          sum(7, ({ amount }) => amount),
          tokens,
          ofToken,
        ),
      ),
      chain_id: String(CHAIN_A),
      to_ts: String(NOW),
    };
    return { yields, fees: { lp_fees_24h_usd: usd(fees(1)), lp_fees_7d_usd: usd(fees(7)) } };
  });
}

/** The example of docs/use/sql.md that names a column. */
function example(column: string): string {
  const page = readFileSync(new URL('../../docs/use/sql.md', import.meta.url), 'utf8');
  const found = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].find(([, text]) => text?.includes(column));
  return found?.[1] ?? '';
}

test('yields, fees and volumes of listed pools are those of their trades, one by one, and null until known', async () => {
  const seen = { yields: 0, unknown: 0, fees: 0 };
  let version = 0;
  expect((await analyst.query('SELECT FROM read_model.pool_yields')).rowCount).toBe(0);
  await assertUntil(
    () => Math.min(seen.yields, seen.unknown, seen.fees) > 5,
    fc.asyncProperty(trades, async (list) => {
      await index(list);
      version += 1;
      await refreshListing({ ...listing.refreshDeps, version: `run ${version}` });
      const { rows } = await analyst.query('SELECT * FROM read_model.pool_yields ORDER BY pool');
      const wanted = expected(list);
      expect(rows).toEqual(wanted.map(({ yields }) => yields));
      const { rows: fees } = await analyst.query(
        `SELECT lp_fees_24h_usd, lp_fees_7d_usd FROM read_model.pool_listing WHERE tier <> 'black' ORDER BY pool`,
      );
      expect(fees).toEqual(wanted.map((pool) => pool.fees));
      const { rows: weeks } = await analyst.query(example('lp_fees_7d_usd'));
      expect(weeks.map((row) => row.lp_fees_7d_usd)).toEqual(
        fees
          .map((row) => row.lp_fees_7d_usd)
          .filter((usd) => usd > 0)
          .sort((one, other) => other - one),
      );
      seen.fees += weeks.length;
      seen.yields += rows.filter(({ apyBase, apyBase7d }) => apyBase > 0 || apyBase7d > 0).length;
      seen.unknown += rows.filter(({ volumeUsd7d }) => volumeUsd7d === null).length;
    }),
    { numRuns: runs(25) },
  );
});

test('the queries of docs/use/pool-yields.sql sum up the pools', async () => {
  const { rows: pools } = await analyst.query('SELECT * FROM read_model.pool_yields');
  const [best = '', chains = '', tokens = ''] = publicQueries('pool-yields');
  const { rows: large } = await analyst.query(best);
  expect(new Set(large.map(({ pool }) => pool))).toEqual(
    new Set(pools.filter(({ tvlUsd }) => tvlUsd >= 10_000).map(({ pool }) => pool)),
  );
  const { rows: byChain } = await analyst.query(chains);
  expect(byChain).toMatchObject([{ chain: 'devnet-a', pools: String(pools.length) }]);
  const { rows: byToken } = await analyst.query(tokens);
  expect(byToken).toHaveLength(2 * pools.filter(({ volumeUsd1d }) => volumeUsd1d > 0).length);
});
