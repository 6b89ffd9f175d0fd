import { evenBins, NEVER, stopLossExtension, swapAllowlistExtension, velocityExtension } from '../pools.ts';
import {
  buyBins,
  moveFeed,
  pause,
  pauseByProtocol,
  proposeOtherProvider,
  sellBins,
  takeFeedDown,
} from './finishing.ts';
import type { PoolPlan } from './plan.ts';

/** A timelock at which the stop loss counts as settled permanently. */
const MAX_TIMELOCK_SECS = 2 ** 32 - 1;

const STILL = { kind: 'anchored', base: 'ETH/USD still' } as const;

/** Pools whose state is the point: traffic leaves them alone. */
export const STILL_POOLS: readonly PoolPlan[] = [
  {
    name: 'cursor-at-edge',
    shows: 'a buy ended exactly at the upper edge of a bin',
    busy: false,
    pair: ['WETH', 'USDC'],
    provider: STILL,
    bins: evenBins(-4, 4, 1_000),
    usdPerBin: 7_000,
    finish: (stage) => buyBins(stage, 1_000n),
  },
  {
    name: 'cursor-at-last-bin',
    shows: 'all of token0 was bought: the cursor stands at the very end',
    busy: false,
    pair: ['WETH', 'USDC'],
    provider: STILL,
    bins: evenBins(-4, 3, 1_000),
    usdPerBin: 6_300,
    finish: (stage) => buyBins(stage, 9_000n),
  },
  {
    name: 'stop-loss-cuts',
    shows: 'a stop loss that stops sales part-way through a bin',
    busy: false,
    pair: ['WETH', 'USDC'],
    provider: STILL,
    bins: evenBins(-8, 8, 5_000),
    usdPerBin: 10_500,
    extensions: (deployment) => [
      stopLossExtension(deployment, { drawdownE6: 2_000, decayPerSecondE8: 0, timelockSecs: MAX_TIMELOCK_SECS }),
    ],
    // Buyers paid up to 2% over mid: giving that back is a loss against what the bins were worth then.
    finish: (stage) => buyBins(stage, 4_500n),
  },
  {
    name: 'stop-loss-closes-side',
    shows: 'a stop loss that refuses every sale',
    busy: false,
    pair: ['WETH', 'USDC'],
    bins: evenBins(-5, 4, 3_000),
    usdPerBin: 8_750,
    provider: { kind: 'anchored', base: 'ETH/USD rising' },
    extensions: (deployment) => [
      stopLossExtension(deployment, { drawdownE6: 30_000, decayPerSecondE8: 0, timelockSecs: MAX_TIMELOCK_SECS }),
    ],
    finish: async (stage) => {
      await buyBins(stage, 500n);
      await sellBins(stage, 2_000n);
      await moveFeed(stage, 'ETH/USD rising', '4200');
    },
  },
  {
    name: 'velocity-guard',
    shows: 'the price jumped: the velocity guard refuses both sides',
    busy: false,
    pair: ['WETH', 'USDC'],
    bins: evenBins(-5, 4, 1_500),
    usdPerBin: 5_250,
    provider: { kind: 'anchored', base: 'ETH/USD jumping' },
    extensions: (deployment) => [velocityExtension(deployment, 10n ** 14n)],
    finish: async (stage) => {
      await buyBins(stage, 500n);
      await moveFeed(stage, 'ETH/USD jumping', '3900');
    },
  },
  {
    name: 'swap-allowlist',
    shows: 'only listed callers may swap',
    busy: false,
    pair: ['WETH', 'USDC'],
    provider: STILL,
    bins: evenBins(-4, 3, 1_000),
    usdPerBin: 4_200,
    extensions: (deployment) => [swapAllowlistExtension(deployment, [deployment.swapRouter])],
    finish: (stage) => buyBins(stage, 700n),
  },
  {
    name: 'paused',
    shows: 'paused by its admin',
    busy: false,
    pair: ['WETH', 'USDC'],
    provider: STILL,
    bins: evenBins(-4, 3, 1_000),
    usdPerBin: 3_500,
    finish: pause,
  },
  {
    name: 'paused-by-protocol',
    shows: 'paused by the protocol',
    busy: false,
    pair: ['WBTC', 'USDC'],
    provider: { kind: 'regular', feed: 'BTC/USD' },
    usdPerBin: 3_900,
    bins: evenBins(-3, 2, 2_000),
    finish: pauseByProtocol,
  },
  {
    name: 'feed-down',
    shows: 'the feed has no valid price',
    busy: false,
    pair: ['WETH', 'USDC'],
    bins: evenBins(-4, 3, 1_000),
    usdPerBin: 3_500,
    provider: { kind: 'anchored', base: 'ETH/USD silent' },
    finish: async (stage) => {
      await buyBins(stage, 300n);
      await takeFeedDown(stage, 'ETH/USD silent');
    },
  },
  {
    name: 'crossed-quote',
    shows: 'the provider answers a bid above its ask',
    busy: false,
    pair: ['WETH', 'USDT'],
    bins: evenBins(-4, 3, 1_000),
    usdPerBin: 3_500,
    provider: { kind: 'regular', feed: 'ETH/USD still', marginStep: -5n * 10n ** 14n },
  },
  {
    name: 'immutable-provider',
    shows: 'a provider that can never change, of no known factory',
    busy: false,
    pair: ['', 'WETH'],
    bins: evenBins(-4, 3, 8_000),
    usdPerBin: 2_000,
    priceProviderTimelock: NEVER,
    provider: { kind: 'manual', halfSpreadE6: 2_000n },
    finish: (stage) => buyBins(stage, 1_700n),
  },
  {
    name: 'pending-provider',
    shows: 'another provider was proposed and waits for its timelock',
    busy: false,
    pair: ['WETH', 'USDC'],
    provider: STILL,
    bins: evenBins(-4, 3, 1_500),
    usdPerBin: 4_900,
    priceProviderTimelock: 7n * 86_400n,
    finish: proposeOtherProvider,
  },
  {
    name: 'no-liquidity',
    shows: 'bins without anything in them',
    busy: false,
    pair: ['WETH', 'USDC'],
    provider: STILL,
    bins: evenBins(-4, 3, 1_000),
    usdPerBin: 0,
  },
  {
    name: 'unvouched-feed',
    shows: 'a feed that nobody lists for its token',
    busy: false,
    pair: ['WETH', 'USDC'],
    provider: { kind: 'anchored', base: 'ETH/USD unvouched' },
    bins: evenBins(-4, 3, 1_000),
    usdPerBin: 2_800,
  },
  {
    name: 'tokenized-stock',
    shows: 'a stock token priced without its issuer multiplier',
    busy: false,
    pair: ['ACMEx', 'USDC'],
    provider: { kind: 'anchored', base: 'ACME/USD' },
    usdPerBin: 4_000,
    bins: evenBins(-4, 3, 2_000),
  },
];
