import type { Address, Hex } from 'viem';
import type { AnchoredProviderFacts, ReasonCode, StopLossFacts, TierFacts, TokenFacts } from './classification.ts';
import { MAX_UINT256 } from './fixed-point.ts';

const address = (digit: string) => `0x${digit.repeat(40)}` as Address;
const feed = (digit: string) => `0x${digit.repeat(64)}` as Hex;

const TOKEN0: TokenFacts = { address: address('1'), feedIds: [feed('a')], usdPegged: false, multiplierOracle: null };
const TOKEN1: TokenFacts = { address: address('2'), feedIds: [feed('b')], usdPegged: true, multiplierOracle: null };
const ORACLE = address('3');
const MULTIPLIER_ORACLE = address('4');

const PROVIDER: AnchoredProviderFacts = {
  kind: 'anchored',
  oracle: ORACLE,
  base: TOKEN0.address,
  quote: TOKEN1.address,
  baseFeedId: feed('a'),
  quoteFeedId: feed('b'),
  usesMultiplierOracle: false,
  mutableParams: false,
  maxRefStalenessSecs: 15n,
};
export const REGULAR = { ...PROVIDER, kind: 'regular', quoteFeedId: null } as const;

const STOP_LOSS: StopLossFacts = {
  phases: ['afterSwap'],
  initialized: true,
  drawdownE6: 150_000n,
  decayPerSecondE18: (15n * 10n ** 16n) / 86_400n,
  timelockSecs: 2n ** 32n - 1n,
};

/** At every limit, but beyond none. */
export const GREEN: TierFacts = {
  widestBinE6: 10_000,
  stopLoss: STOP_LOSS,
  provider: PROVIDER,
  priceProviderTimelock: MAX_UINT256,
  admin: address('5'),
  creator: address('5'),
  adminVerified: true,
  extensions: [
    { address: address('6'), phases: ['beforeAddLiquidity', 'afterAddLiquidity', 'beforeSwap', 'afterSwap'] },
  ],
  token0: TOKEN0,
  token1: TOKEN1,
};

export const stopLoss = (change: Partial<StopLossFacts>): Partial<TierFacts> => ({
  stopLoss: { ...STOP_LOSS, ...change },
});
const provider = (change: Partial<AnchoredProviderFacts>): Partial<TierFacts> => ({
  provider: { ...PROVIDER, ...change },
});
const runsIn = (phase: 'beforeRemoveLiquidity' | 'afterRemoveLiquidity'): Partial<TierFacts> => ({
  extensions: [{ address: address('6'), phases: [phase] }],
});
const STOCK: TokenFacts = { ...TOKEN0, multiplierOracle: MULTIPLIER_ORACLE };
const scaled = { oracle: MULTIPLIER_ORACLE, usesMultiplierOracle: true };

interface Case {
  readonly when: string;
  readonly facts: Partial<TierFacts>;
  readonly tier: 'green' | 'yellow' | 'red';
  readonly codes: readonly ReasonCode[];
}

/** A change of {@link GREEN} each. */
export const CASES: readonly Case[] = [
  { when: 'everything is at its limit', facts: {}, tier: 'green', codes: [] },
  { when: 'a bin is wider than 1%', facts: { widestBinE6: 10_001 }, tier: 'yellow', codes: ['bin_width_exceeded'] },
  { when: 'there is no stop loss', facts: { stopLoss: null }, tier: 'red', codes: ['stop_loss_missing'] },
  {
    when: 'the stop loss does not run after swaps',
    facts: stopLoss({ phases: ['beforeSwap'], drawdownE6: 0n }),
    tier: 'red',
    codes: ['stop_loss_missing'],
  },
  {
    when: 'the stop loss is not initialised, whatever else is wrong with it',
    facts: stopLoss({
      initialized: false,
      drawdownE6: 900_000n,
      decayPerSecondE18: 9_000n * 10n ** 10n,
      timelockSecs: 0n,
    }),
    tier: 'red',
    codes: ['stop_loss_uninitialized'],
  },
  {
    when: 'the stop loss allows no drawdown, which turns it off',
    facts: stopLoss({ drawdownE6: 0n, timelockSecs: 0n }),
    tier: 'red',
    codes: ['stop_loss_uninitialized'],
  },
  {
    when: 'the timelock of the stop loss is shorter than forever',
    facts: stopLoss({ timelockSecs: 2n ** 32n - 2n }),
    tier: 'yellow',
    codes: ['stop_loss_mutable'],
  },
  {
    when: 'the drawdown is above 15%',
    facts: stopLoss({ drawdownE6: 150_001n }),
    tier: 'yellow',
    codes: ['stop_loss_drawdown_exceeded'],
  },
  {
    // 174 * 86,400 / 1e8 = 15.03%
    when: 'the decay is above 15% a day',
    facts: stopLoss({ decayPerSecondE18: (15n * 10n ** 16n) / 86_400n + 1n }),
    tier: 'yellow',
    codes: ['stop_loss_decay_exceeded'],
  },
  { when: 'the provider is regular', facts: { provider: REGULAR }, tier: 'red', codes: ['app_missing'] },
  { when: 'the provider is unknown', facts: { provider: { kind: 'unknown' } }, tier: 'red', codes: ['app_missing'] },
  {
    when: 'the anchored provider can be tuned',
    facts: provider({ mutableParams: true }),
    tier: 'yellow',
    codes: ['app_mutable'],
  },
  {
    when: 'the feed may be older than 15 seconds',
    facts: provider({ maxRefStalenessSecs: 16n }),
    tier: 'yellow',
    codes: ['feed_staleness_exceeded'],
  },
  {
    when: 'the provider can be replaced, be it after ages',
    facts: { priceProviderTimelock: MAX_UINT256 - 1n },
    tier: 'yellow',
    codes: ['price_provider_mutable'],
  },
  {
    when: 'the curator is not verified',
    facts: { adminVerified: false },
    tier: 'yellow',
    codes: ['curator_unverified'],
  },
  {
    when: 'the curator is not the creator',
    facts: { creator: address('7') },
    tier: 'yellow',
    codes: ['curator_not_creator'],
  },
  {
    when: 'an extension runs before liquidity is removed',
    facts: runsIn('beforeRemoveLiquidity'),
    tier: 'red',
    codes: ['remove_liquidity_extension_present'],
  },
  {
    when: 'an extension runs after liquidity is removed',
    facts: runsIn('afterRemoveLiquidity'),
    tier: 'red',
    codes: ['remove_liquidity_extension_present'],
  },
  {
    when: 'the base feed is not known for token0',
    facts: provider({ baseFeedId: feed('c') }),
    tier: 'yellow',
    codes: ['anchored_feed_unmatched'],
  },
  {
    when: 'the quote feed is not known for token1',
    facts: provider({ quoteFeedId: feed('a') }),
    tier: 'yellow',
    codes: ['anchored_feed_unmatched'],
  },
  {
    when: 'there is no quote feed and token1 is pegged to the dollar',
    facts: provider({ quoteFeedId: null }),
    tier: 'green',
    codes: [],
  },
  {
    when: 'there is no quote feed and token1 is not pegged',
    facts: { ...provider({ quoteFeedId: null }), token1: { ...TOKEN1, usdPegged: false } },
    tier: 'yellow',
    codes: ['anchored_feed_unmatched'],
  },
  {
    when: 'the provider prices the pair the other way round',
    facts: provider({ base: TOKEN1.address, quote: TOKEN0.address, baseFeedId: feed('b'), quoteFeedId: feed('a') }),
    tier: 'yellow',
    codes: ['anchored_feed_unmatched'],
  },
  {
    when: 'feeds do not match and something else is yellow',
    facts: { ...provider({ baseFeedId: feed('c') }), adminVerified: false },
    tier: 'red',
    codes: ['curator_unverified', 'anchored_feed_unmatched'],
  },
  {
    when: 'feeds do not match and the pool is red anyway',
    facts: { ...provider({ baseFeedId: feed('c') }), stopLoss: null },
    tier: 'red',
    codes: ['stop_loss_missing', 'anchored_feed_unmatched'],
  },
  {
    when: 'a stock is priced by the multiplier oracle through its feed',
    facts: { token0: STOCK, ...provider(scaled) },
    tier: 'green',
    codes: [],
  },
  {
    when: 'a stock is priced by another oracle',
    facts: { token0: STOCK },
    tier: 'red',
    codes: ['multiplier_token_unscaled'],
  },
  {
    when: 'a stock on the quote side is priced by another oracle',
    facts: { token1: { ...TOKEN1, multiplierOracle: MULTIPLIER_ORACLE } },
    tier: 'red',
    codes: ['multiplier_token_unscaled'],
  },
  {
    when: 'the multiplier oracle is asked through a feed of another token',
    facts: { token0: STOCK, ...provider({ ...scaled, baseFeedId: feed('b') }) },
    tier: 'red',
    codes: ['anchored_feed_unmatched', 'multiplier_feed_miswired'],
  },
  {
    when: 'the multiplier oracle prices a stock on the quote side without a feed for it',
    facts: {
      token1: { ...TOKEN1, multiplierOracle: MULTIPLIER_ORACLE },
      ...provider({ ...scaled, quoteFeedId: null }),
    },
    tier: 'red',
    codes: ['multiplier_feed_miswired'],
  },
  {
    when: 'the multiplier oracle prices a pair without a stock',
    facts: provider(scaled),
    tier: 'red',
    codes: ['multiplier_feed_miswired'],
  },
  {
    when: 'a regular provider uses the multiplier oracle through the wrong feed',
    facts: { token0: STOCK, provider: { ...REGULAR, ...scaled, baseFeedId: feed('c') } },
    tier: 'red',
    codes: ['app_missing', 'multiplier_feed_miswired'],
  },
  {
    when: 'nothing is known of the oracle of a stock',
    facts: { token0: STOCK, provider: { kind: 'unknown' } },
    tier: 'red',
    codes: ['app_missing'],
  },
];
