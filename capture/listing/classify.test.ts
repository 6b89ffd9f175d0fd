import { beforeAll, expect, test } from 'vitest';
import { type ChainsFile, TokenConfig } from '../../config/chains-schema.ts';
import * as onchain from '../../indexer/ponder.schema.ts';
import { MAX_UINT256 } from '../../protocol/fixed-point.ts';
import { ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import { classify } from './classify.ts';
import { refreshListing } from './refresh-listing.ts';

const POOL = seedAddress(0x1000);
const CURATOR = seedAddress(0xc);
const PROVIDER = seedAddress(0x9);
const ORACLE = seedAddress(0x0a);
const STOP_LOSS = seedAddress(0x51);
const feed = (digit: string): `0x${string}` => `0x${digit.repeat(64)}`;
const stamp = { blockNumber: 1, blockTimestamp: 1 };

type Tokens = ChainsFile['tokens'];
const token = (address: string, more: object = {}) => TokenConfig.parse({ chainId: CHAIN_A, address, ...more });
const TOKENS: Tokens = [token(TOKEN0, { feedIds: [feed('a')] }), token(TOKEN1, { usdPegged: true })];

const listing = startedWorld(openListing);

/** One pool that gives no reason. */
beforeAll(async () => {
  const { db, pool } = listing;
  for (const address of [TOKEN0, TOKEN1]) await seedToken(db, { chainId: CHAIN_A, address });
  const owners = { creator: CURATOR, admin: CURATOR };
  await seedPools(db, [
    {
      pool: {
        chainId: CHAIN_A,
        address: POOL,
        ...owners,
        priceProvider: PROVIDER,
        priceProviderTimelockSecs: MAX_UINT256,
      },
    },
  ]);
  const extension = { chainId: CHAIN_A, pool: POOL, address: STOP_LOSS, ...stamp };
  await db.insert(onchain.poolExtension).values({ ...extension, position: 1, phases: ['afterSwap'] });
  const settings = { drawdownE6: 150_000n, decayPerSecondE8: 173n, timelockSecs: 2n ** 32n - 1n };
  await db.insert(onchain.stopLoss).values({ ...extension, ...settings });
  await db.insert(onchain.priceProvider).values({
    chainId: CHAIN_A,
    address: PROVIDER,
    kind: 'anchored',
    factory: seedAddress(0xfa),
    creator: CURATOR,
    oracle: ORACLE,
    base: TOKEN0,
    quote: TOKEN1,
    marginStep: 0n,
    baseFeedId: feed('a'),
    quoteFeedId: feed('0'),
    minMargin: 0n,
    maxRefStalenessSecs: 15n,
    maxSpreadBps: 100,
    mutableParams: false,
    ...stamp,
  });
  await pool.query('INSERT INTO operator.curator VALUES ($1, $2, NULL, true)', [CHAIN_A, CURATOR]);
});

/** Classifies the pool again. @returns what is stored of it */
async function classifyAgain(tokens = TOKENS, version = JSON.stringify(tokens)) {
  const registry = createRegistry({ ...CHAINS_FILE, tokens });
  await refreshListing({ ...listing.refreshDeps, registry, version, classify });
  const { rows } = await listing.pool.query<{ tier: string; reason_codes: string[]; classified_at: Date }>(
    'SELECT tier, reason_codes, classified_at FROM operator.pool_classification WHERE pool = $1',
    [POOL],
  );
  const [row] = rows;
  if (!row) throw new Error('not classified');
  return row;
}

const GREEN = { tier: 'green', reason_codes: [] };

test.each([
  ['pool', 'bin_lengths_e6', '{1,2,3,4,5,10001,7,8,9,10,11}', 'yellow', ['bin_width_exceeded']],
  ['pool', 'price_provider_timelock_secs', '86400', 'yellow', ['price_provider_mutable']],
  ['pool', 'price_provider', seedAddress(0x99), 'red', ['app_missing']],
  ['pool', 'creator', seedAddress(0xd), 'yellow', ['curator_not_creator']],
  ['pool', 'admin', seedAddress(0xd), 'yellow', ['curator_unverified', 'curator_not_creator']],
  ['pool_extension', 'address', seedAddress(0x99), 'red', ['stop_loss_missing']],
  ['pool_extension', 'phases', '{beforeSwap}', 'red', ['stop_loss_missing']],
  ['pool_extension', 'phases', '{afterSwap,afterRemoveLiquidity}', 'red', ['remove_liquidity_extension_present']],
  ['stop_loss', 'pool', seedAddress(0x99), 'red', ['stop_loss_uninitialized']],
  ['stop_loss', 'drawdown_e6', '150001', 'yellow', ['stop_loss_drawdown_exceeded']],
  ['stop_loss', 'decay_per_second_e8', '174', 'yellow', ['stop_loss_decay_exceeded']],
  // Of a packed pool, in its own unit: 15% a day and one part of 10^18 a second more.
  ['stop_loss', 'decay_per_second_e18', '1736111111112', 'yellow', ['stop_loss_decay_exceeded']],
  ['stop_loss', 'timelock_secs', '3600', 'yellow', ['stop_loss_mutable']],
  ['price_provider', 'kind', 'regular', 'red', ['app_missing']],
  ['price_provider', 'mutable_params', 'true', 'yellow', ['app_mutable']],
  ['price_provider', 'max_ref_staleness_secs', '16', 'yellow', ['feed_staleness_exceeded']],
  ['price_provider', 'base_feed_id', feed('b'), 'yellow', ['anchored_feed_unmatched']],
  ['price_provider', 'quote_feed_id', feed('b'), 'yellow', ['anchored_feed_unmatched']],
  ['price_provider', 'base', TOKEN1, 'yellow', ['anchored_feed_unmatched']],
  ['curator', 'verified', 'false', 'yellow', ['curator_unverified']],
])('%s.%s = %s', async (table, column, value, tier, codes) => {
  const name = table === 'curator' ? 'operator.curator' : `${ONCHAIN_SCHEMA}.${table}`;
  const { rows } = await listing.pool.query(`SELECT ${column}::text AS before FROM ${name}`);
  const set = (to: unknown) => listing.pool.query(`UPDATE ${name} SET ${column} = $1`, [to]);
  expect(await classifyAgain()).toMatchObject(GREEN);
  try {
    await set(value);
    expect(await classifyAgain()).toMatchObject({ tier, reason_codes: codes });
  } finally {
    await set(rows[0].before);
  }
  expect(await classifyAgain()).toMatchObject(GREEN);
});

const STOCK = token(TOKEN0, { feedIds: [feed('a')], multiplierOracle: seedAddress(0x0b) });
const OTHER_STOCK = token(seedAddress(0x7f), { multiplierOracle: ORACLE });

test.each([
  ['no feed is known', TOKENS.slice(1), 'yellow', ['anchored_feed_unmatched']],
  ['the quote is not pegged', TOKENS.slice(0, 1), 'yellow', ['anchored_feed_unmatched']],
  ['the token is a stock that another oracle knows', [STOCK, ...TOKENS.slice(1)], 'red', ['multiplier_token_unscaled']],
  ['the oracle is that of another stock', [...TOKENS, OTHER_STOCK], 'red', ['multiplier_feed_miswired']],
])('the chains file: %s', async (_what, tokens, tier, codes) => {
  expect(await classifyAgain()).toMatchObject(GREEN);
  expect(await classifyAgain(tokens)).toMatchObject({ tier, reason_codes: codes });
});

test('a classification that stays as it is keeps its time', async () => {
  const first = await classifyAgain();
  expect(await classifyAgain(TOKENS, 'another')).toEqual(first);
});
