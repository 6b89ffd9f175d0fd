import type { Address } from 'viem';
import { administer, deployToken, fundAccounts } from '../../devnet/actions.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { type ExtensionSpec, evenBins, stopLossExtension, swapAllowlistExtension } from '../../devnet/pools.ts';
import { silenceFeed } from '../../devnet/providers.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { evenShares, makePool, type QuoteWorld, type WorldPool } from '../quotes/quote-world.ts';
import { servedPool } from '../quotes/served-pool.ts';

const TOKENS = { WETH: 18, USDC: 6, WBTC: 8, DAI: 18, LONE: 18 } as const;
export type TokenName = keyof typeof TOKENS;

export interface MarketToken {
  readonly address: Address;
  readonly decimals: number;
}

/** A small market: pools of different depth, spread and bin widths, in both token orders; some that need care. */
const POOLS = {
  wethUsdc: { tokens: ['WETH', 'USDC'], price: 3_000, lengthE6: 1_000, bins: [-4, 4], shares: 4 },
  wethUsdcWide: { tokens: ['WETH', 'USDC'], price: 3_002, lengthE6: 4_000, bins: [-3, 3], shares: 3 },
  usdcWeth: { tokens: ['USDC', 'WETH'], price: 0.000334, lengthE6: 2_000, bins: [-4, 4], shares: 6_000 },
  wethWbtc: { tokens: ['WETH', 'WBTC'], price: 0.05, lengthE6: 2_000, bins: [-5, 5], shares: 8 },
  wethWbtcThin: { tokens: ['WETH', 'WBTC'], price: 0.0501, lengthE6: 3_000, bins: [-2, 2], shares: 2 },
  wbtcUsdc: { tokens: ['WBTC', 'USDC'], price: 60_000, lengthE6: 1_500, bins: [-4, 4], shares: 0.2 },
  wbtcUsdcOther: { tokens: ['WBTC', 'USDC'], price: 60_060, lengthE6: 1_500, bins: [-4, 4], shares: 0.1 },
  daiUsdc: { tokens: ['DAI', 'USDC'], price: 1, lengthE6: 500, bins: [-5, 5], shares: 9_000 },
  daiWeth: { tokens: ['DAI', 'WETH'], price: 0.000333, lengthE6: 2_500, bins: [-4, 4], shares: 5_000 },
  guarded: { tokens: ['WETH', 'DAI'], price: 3_000, lengthE6: 2_000, bins: [-4, 4], shares: 3 },
  paused: { tokens: ['LONE', 'USDC'], price: 2, lengthE6: 1_000, bins: [-2, 2], shares: 100 },
  silent: { tokens: ['LONE', 'DAI'], price: 2, lengthE6: 1_000, bins: [-2, 2], shares: 100 },
  allowlisted: { tokens: ['LONE', 'WBTC'], price: 1, lengthE6: 1_000, bins: [-2, 2], shares: 100 },
  custom: { tokens: ['LONE', 'WETH'], price: 1, lengthE6: 1_000, bins: [-2, 2], shares: 100 },
} as const satisfies Record<string, PoolPlan>;

interface PoolPlan {
  readonly tokens: readonly [TokenName, TokenName];
  readonly price: number;
  readonly lengthE6: number;
  readonly bins: readonly [number, number];
  /** Whole token0 of liquidity in each bin. */
  readonly shares: number;
}

export type PoolName = keyof typeof POOLS;

export interface MarketPool extends WorldPool {
  readonly served: ServedPool;
}

export interface RouteMarket {
  readonly world: QuoteWorld;
  readonly tokens: Readonly<Record<TokenName, MarketToken>>;
  readonly pools: Readonly<Record<PoolName, MarketPool>>;
}

/** Makes the market's tokens and pools. */
export async function createRouteMarket(world: QuoteWorld): Promise<RouteMarket> {
  const tokens = await createTokens(world);
  const extensions = await createExtensions(world);
  const pools: [string, MarketPool][] = [];
  for (const [name, plan] of Object.entries<PoolPlan>(POOLS)) {
    const pool = await createMarketPool(world, tokens, plan, extensions[name as PoolName] ?? []);
    pools.push([name, pool]);
  }
  const named = Object.fromEntries(pools) as Record<PoolName, MarketPool>;
  const { chain, deployment } = world;
  await administer(chain, deployment, {
    from: chain.roles.curator,
    functionName: 'pausePool',
    args: [named.paused.address],
  });
  await silenceFeed(chain, deployment, named.silent.feed, 'takeDown');
  return { world, tokens, pools: named };
}

/** `custom` has a guard that the deployment does not name, so the service cannot know what it judges by. */
async function createExtensions({ chain, deployment }: QuoteWorld) {
  const settings = { drawdownE6: 100_000, decayPerSecondE8: 0, timelockSecs: 86_400 };
  const unknown = await deployContract(chain, 'StopLoss', [deployment.poolFactory]);
  const extensions: Partial<Record<PoolName, readonly ExtensionSpec[]>> = {
    guarded: [stopLossExtension(deployment, settings)],
    allowlisted: [swapAllowlistExtension(deployment, [deployment.swapRouter])],
    custom: [{ ...stopLossExtension(deployment, settings), address: unknown }],
  };
  return extensions;
}

async function createTokens({ chain, deployment }: QuoteWorld): Promise<Record<TokenName, MarketToken>> {
  const accounts = [chain.roles.provider, chain.roles.trader];
  const made: [string, MarketToken][] = [];
  for (const [symbol, decimals] of Object.entries(TOKENS)) {
    const address = await deployToken(chain, { name: symbol, symbol, decimals });
    await fundAccounts(chain, deployment, address, { accounts, amount: 10n ** BigInt(decimals + 12) });
    made.push([symbol, { address, decimals }]);
  }
  return Object.fromEntries(made) as Record<TokenName, MarketToken>;
}

async function createMarketPool(
  world: QuoteWorld,
  tokens: Readonly<Record<TokenName, MarketToken>>,
  plan: PoolPlan,
  extensions: readonly ExtensionSpec[],
): Promise<MarketPool> {
  const [token0, token1] = [tokens[plan.tokens[0]], tokens[plan.tokens[1]]];
  const shares = BigInt(Math.round(plan.shares * 1_000)) * 10n ** 15n;
  const pool = await makePool(world, {
    pair: {
      token0: token0.address,
      token1: token1.address,
      decimals0: token0.decimals,
      decimals1: token1.decimals,
    },
    bins: evenBins(plan.bins[0], plan.bins[1], plan.lengthE6),
    price: plan.price,
    shares: evenShares(plan.bins[0], plan.bins[1], shares),
    notionalFeeE8: 5_000,
    extensions,
  });
  const served = await servedPool(world.chain, world.deployment, pool.address);
  return { ...pool, served: { ...served, pair: plan.tokens.join('/') } };
}
