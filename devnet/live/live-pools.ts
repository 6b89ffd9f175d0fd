import { type Address, type Hex, keccak256, numberToHex } from 'viem';
import { addLiquidity } from '../actions.ts';
import type { Deployment } from '../deploy.ts';
import type { DevChain } from '../dev-chain.ts';
import { type PackedDeployment, packedStopLossExtension } from '../packed/deploy.ts';
import { createPool, type ExtensionSpec, evenBins, stopLossExtension, velocityExtension } from '../pools.ts';
import { feedId, type PricedPair } from '../providers.ts';
import { createMaker, type Maker } from './maker.ts';
import { deployRegistryProvider } from './registry.ts';

export const ONE = 10n ** 18n;

/** Guards of live pools, in the order in which pools get them. */
export const LIVE_GUARDS = ['none', 'stopLoss', 'velocity'] as const;

export type LiveGuard = (typeof LIVE_GUARDS)[number];

/** A pool whose price lives with the builder. Addresses are lowercased. */
export interface LivePool extends PricedPair {
  readonly address: Address;
  readonly layout: 'flat' | 'packed';
  readonly guard: LiveGuard;
  readonly provider: Address;
  /** The feed of this pool alone. */
  readonly feedId: Hex;
  readonly maker: Maker;
  /** The router of the pool's layout, also the venue of its updates. */
  readonly venue: Address;
  /** Quotes swaps by `quoterAbi`. */
  readonly quoter: Address;
}

/** Where live pools are made. */
export interface LiveSetup extends PricedPair {
  readonly chain: DevChain;
  readonly flat: Deployment;
  readonly packed: PackedDeployment;
  readonly registry: Address;
}

/** Drawdown at which a stop loss closes a side, millionths. */
export const LIVE_DRAWDOWN_E6 = 20_000;
/** Most that a velocity guard allows a price to move in a block, a fraction E18. */
export const LIVE_MAX_CHANGE_E18 = 10n ** 16n;

const BIN_SHARES = 100n * ONE;

/**
 * Creates a pool around price 2 on a feed of its own: nine bins of 1% with a hundred shares in each.
 * Its feed has no price yet.
 *
 * @param number of the pool: it selects feed, guard and salt
 * @param guards those that pools get in turn
 */
export async function createLivePool(
  setup: LiveSetup,
  layout: LivePool['layout'],
  number: number,
  guards: readonly LiveGuard[] = LIVE_GUARDS,
): Promise<LivePool> {
  const { chain, registry, token0, token1 } = setup;
  const deployment = setup[layout];
  const guard = guards[number % guards.length] ?? 'none';
  const feed = feedId(`live ${layout} ${number}`);
  const venue = deployment.swapRouter;
  const maker = createMaker(chain, { privateKey: keccak256(feed), registry, venue, feedId: feed });
  await maker.register();
  const provider = await deployRegistryProvider(chain, deployment, { token0, token1, registry, feedId: feed });
  const bins = evenBins(-4, 4, 10_000);
  const address = await createPool(chain, deployment, {
    token0,
    token1,
    priceProvider: provider,
    bins,
    initialAmount0PerShareE18: ONE,
    initialAmount1PerShareE18: 2n * ONE,
    extensions: extensionsOf(setup, layout, guard),
    salt: numberToHex(number + 1, { size: 32 }),
  });
  const shares = bins.map(({ bin }) => ({ bin, shares: BIN_SHARES }));
  await addLiquidity(chain, deployment, { pool: address, owner: chain.roles.provider, bins: shares });
  const { quoter } = deployment;
  return { address, layout, guard, token0, token1, provider, feedId: feed, maker, venue, quoter };
}

function extensionsOf({ flat, packed }: LiveSetup, layout: LivePool['layout'], guard: LiveGuard): ExtensionSpec[] {
  if (guard === 'none') return [];
  const isFlat = layout === 'flat';
  if (guard === 'velocity') return [velocityExtension(isFlat ? flat : packed, LIVE_MAX_CHANGE_E18)];
  const settings = { drawdownE6: LIVE_DRAWDOWN_E6, timelockSecs: 60 };
  return [
    isFlat
      ? stopLossExtension(flat, { ...settings, decayPerSecondE8: 0 })
      : packedStopLossExtension(packed, { ...settings, decayPerSecondE18: 0n }),
  ];
}
