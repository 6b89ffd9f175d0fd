import type { BinShape } from '../../protocol/pool-events.ts';
import { depositAllowlistExtension, evenBins, NEVER, removalLogExtension, stopLossExtension } from '../pools.ts';
import { buyBins, handOver, sellBins } from './finishing.ts';
import type { PoolPlan } from './plan.ts';

const PERCENT_E6 = 10_000;
/** A timelock at which the stop loss counts as settled permanently. */
const MAX_TIMELOCK_SECS = 2 ** 32 - 1;
/** About 8.6% a day. */
const GENTLE_DECAY_E8 = 100;

const ETH_USDC = { kind: 'anchored', base: 'ETH/USD' } as const;

/** Bins that widen with the distance from the middle, with fees that differ by side. */
function unevenBins(lowest: number, highest: number): BinShape[] {
  return evenBins(lowest, highest, 0).map(({ bin }) => ({
    bin,
    lengthE6: 700 + 450 * Math.abs(bin),
    addFeeBuyE6: bin % 2 === 0 ? 150 : 300,
    addFeeSellE6: 100 + 25 * Math.abs(bin),
  }));
}

/** Pools that trade: traffic keeps them moving. */
export const TRADING_POOLS: readonly PoolPlan[] = [
  {
    name: 'exemplary',
    shows: 'nothing to object to: 18/6 decimals, even bins, cursor in the middle of a bin',
    pair: ['WETH', 'USDC'],
    provider: ETH_USDC,
    bins: evenBins(-10, 9, 1_000),
    usdPerBin: 25_000,
    busy: true,
    settled: true,
    priceProviderTimelock: NEVER,
    extensions: (deployment) => [
      stopLossExtension(deployment, {
        drawdownE6: 10 * PERCENT_E6,
        decayPerSecondE8: GENTLE_DECAY_E8,
        timelockSecs: MAX_TIMELOCK_SECS,
      }),
    ],
    finish: async (stage) => {
      await buyBins(stage, 2_500n);
      await sellBins(stage, 3_000n);
    },
  },
  {
    name: 'stop-loss-with-room',
    shows: 'a stop loss that does not bind; 8/6 decimals',
    busy: true,
    pair: ['WBTC', 'USDC'],
    provider: { kind: 'anchored', base: 'BTC/USD' },
    usdPerBin: 40_000,
    bins: evenBins(-8, 7, 2_000),
    adminNotionalFeeE8: 2_000,
    extensions: (deployment) => [
      stopLossExtension(deployment, {
        drawdownE6: 12 * PERCENT_E6,
        decayPerSecondE8: GENTLE_DECAY_E8,
        timelockSecs: 86_400,
      }),
    ],
    finish: (stage) => buyBins(stage, 1_300n),
  },
  {
    name: 'uneven-bins',
    shows: 'bins of growing width with fees per side; 6/18 decimals; two feeds',
    busy: true,
    pair: ['USDC', 'WETH'],
    bins: unevenBins(-9, 9),
    usdPerBin: 15_000,
    provider: { kind: 'anchored', base: 'USDC/USD', quote: 'ETH/USD' },
    finish: (stage) => buyBins(stage, 400n),
  },
  {
    name: 'eighteen-eight',
    shows: '18/8 decimals, two feeds, parameters that can change',
    busy: true,
    pair: ['WETH', 'WBTC'],
    bins: evenBins(-6, 5, 1_500),
    usdPerBin: 30_000,
    provider: { kind: 'anchored', base: 'ETH/USD', quote: 'BTC/USD', mutableParams: true },
    finish: (stage) => sellBins(stage, 1_500n),
  },
  {
    name: 'six-eight',
    shows: '6/8 decimals: one raw unit of token1 is worth a lot of token0',
    busy: true,
    pair: ['USDC', 'WBTC'],
    bins: evenBins(-6, 5, 3_000),
    usdPerBin: 12_000,
    provider: { kind: 'anchored', base: 'USDC/USD', quote: 'BTC/USD' },
    finish: (stage) => sellBins(stage, 700n),
  },
  {
    name: 'eight-eighteen',
    shows: '8/18 decimals, feeds that may be a minute old',
    busy: true,
    pair: ['WBTC', 'WETH'],
    bins: unevenBins(-5, 5),
    usdPerBin: 20_000,
    provider: { kind: 'anchored', base: 'BTC/USD', quote: 'ETH/USD', maxRefStaleness: 60n },
    finish: (stage) => buyBins(stage, 900n),
  },
  {
    name: 'stable-pair',
    shows: '6/6 decimals, very narrow bins',
    busy: true,
    pair: ['USDC', 'USDT'],
    bins: evenBins(-12, 11, 100),
    usdPerBin: 50_000,
    provider: { kind: 'anchored', base: 'USDC/USD', quote: 'USDT/USD' },
    finish: (stage) => buyBins(stage, 500n),
  },
  {
    name: 'wide-bins',
    shows: 'bins wider than 1%; 18/18 decimals',
    busy: true,
    pair: ['WETH', 'DAI'],
    bins: evenBins(-4, 3, 2 * PERCENT_E6),
    usdPerBin: 60_000,
    provider: { kind: 'anchored', base: 'ETH/USD', quote: 'DAI/USD' },
    finish: (stage) => sellBins(stage, 450n),
  },
  {
    name: 'custom-source',
    shows: 'an anchored provider with a source of its own',
    busy: true,
    pair: ['WETH', 'USDT'],
    bins: evenBins(-5, 4, 1_200),
    usdPerBin: 10_000,
    provider: { kind: 'anchored', base: 'ETH/USD', quote: 'USDT/USD', sourceHalfSpreadE6: 100n },
    finish: (stage) => buyBins(stage, 250n),
  },
  {
    name: 'regular-provider',
    shows: 'a provider of the regular factory',
    busy: true,
    pair: ['WBTC', 'USDT'],
    bins: evenBins(-5, 4, 2_500),
    usdPerBin: 18_000,
    provider: { kind: 'regular', feed: 'BTC/USD' },
  },
  {
    name: 'regular-l2-provider',
    shows: 'a provider of the factory for L2 chains; token symbol in 32 bytes',
    pair: ['MKR', 'USDC'],
    bins: evenBins(-5, 4, 4_000),
    usdPerBin: 5_000,
    busy: true,
    provider: { kind: 'regular', feed: 'MKR/USD', futureTolerance: 5n },
  },
  {
    name: 'deposit-allowlist',
    shows: 'only listed accounts may deposit',
    busy: true,
    pair: ['WETH', 'USDC'],
    provider: ETH_USDC,
    bins: evenBins(-5, 4, 2_000),
    usdPerBin: 9_000,
    extensions: (deployment, { roles }) => [
      depositAllowlistExtension(deployment, [roles.provider, roles.trafficProvider]),
      stopLossExtension(deployment),
    ],
    finish: (stage) => sellBins(stage, 300n),
  },
  {
    name: 'custom-extension',
    shows: 'an extension of no known kind that runs on removals',
    busy: true,
    pair: ['DAI', 'USDC'],
    bins: evenBins(-6, 5, 150),
    usdPerBin: 22_000,
    provider: { kind: 'anchored', base: 'DAI/USD' },
    extensions: (deployment) => [removalLogExtension(deployment)],
    finish: (stage) => buyBins(stage, 600n),
  },
  {
    name: 'transferred-admin',
    shows: 'a curator who did not create it',
    busy: true,
    pair: ['WETH', 'USDC'],
    provider: ETH_USDC,
    bins: evenBins(-4, 3, 2_500),
    usdPerBin: 7_000,
    finish: handOver,
  },
];
