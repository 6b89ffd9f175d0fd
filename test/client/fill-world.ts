import type { Hono } from 'hono';
import type { Side } from '../../client/math.ts';
import { swap } from '../../devnet/actions.ts';
import { takenBack } from '../../devnet/dev-chain.ts';
import { chainConfig, type QuoteWorld, startQuoteWorld, type WorldPool } from '../quotes/quote-world.ts';
import { fixedDirectory, servedPool } from '../quotes/served-pool.ts';
import { readDepth } from '../route/plan-check.ts';
import { routeApp } from '../route/route-app.ts';
import { createRouteMarket, type MarketPool } from '../route/route-market.ts';
import { makePriceWalks, makeWidePool, type PriceWalk } from './price-walk.ts';
import type { RawSide } from './vectors.ts';

const CHAIN_ID = 31337;
/** Pools that anyone can trade with, and whose depth is guaranteed. */
const POOLS = [
  'wethUsdc',
  'wethUsdcWide',
  'usdcWeth',
  'wethWbtc',
  'wethWbtcThin',
  'wbtcUsdc',
  'wbtcUsdcOther',
  'daiUsdc',
  'daiWeth',
  'guarded',
] as const;

/** One side of a pool on the devnet. */
export interface MarketSide extends RawSide {
  readonly pool: MarketPool;
  readonly side: Side;
}

/** A still market on a chain, the API over it, and both sides of its pools. */
export interface FillWorld {
  readonly app: Hono;
  readonly sides: readonly MarketSide[];
  /** Walks of a pool of wide bins, executed. */
  readonly priceWalks: () => Promise<readonly PriceWalk[]>;
  /** Swaps, and takes it back. @returns what was paid and received, raw units */
  readonly execute: (side: MarketSide, exact: 'in' | 'out', amount: bigint) => Promise<readonly [bigint, bigint]>;
  readonly stop: () => Promise<void>;
}

export async function startFillWorld(): Promise<FillWorld> {
  const world = await startQuoteWorld(CHAIN_ID);
  const market = await createRouteMarket(world);
  const pools = POOLS.map((name) => [name, market.pools[name]] as const);
  const wide = await makeWidePool(world);
  const servedWide = await servedPool(world.chain, world.deployment, wide.address);
  const directory = fixedDirectory([...pools.map(([, { served }]) => served), servedWide]);
  const app = routeApp({ chain: chainConfig(CHAIN_ID, [world.anvil.url]), directory });
  const sides: MarketSide[] = [];
  for (const [name, pool] of pools) {
    const depth = await readDepth(app, CHAIN_ID, pool.address);
    const decimals = [pool.served.token0.decimals ?? 0, pool.served.token1.decimals ?? 0] as const;
    for (const side of ['bids', 'asks'] as const) {
      const [decimalsIn, decimalsOut] = side === 'bids' ? decimals : [decimals[1], decimals[0]];
      const levels = depth[side].map(({ cumulativeInputVolume, cumulativeVolume }) => ({
        cumulativeInputVolume,
        cumulativeVolume,
      }));
      sides.push({ name: `${name} ${side}`, pool, side, decimalsIn, decimalsOut, levels });
    }
  }
  return {
    app,
    sides,
    priceWalks: () =>
      makePriceWalks(app, CHAIN_ID, wide.address, async (side, amountIn) => {
        const [, received] = await takenBack(world.chain, () => execute(world, { pool: wide, side }, 'in', amountIn));
        return received;
      }),
    execute: (...order) => takenBack(world.chain, () => execute(world, ...order)),
    stop: world.stop,
  };
}

async function execute(
  { chain, deployment }: QuoteWorld,
  { pool, side }: { readonly pool: WorldPool; readonly side: Side },
  exact: 'in' | 'out',
  amount: bigint,
) {
  const zeroForOne = side === 'bids';
  const amountSpecified = exact === 'in' ? amount : -amount;
  const { amount0Delta, amount1Delta } = await swap(chain, deployment, {
    pool: pool.address,
    zeroForOne,
    amountSpecified,
  });
  return zeroForOne ? ([amount0Delta, -amount1Delta] as const) : ([amount1Delta, -amount0Delta] as const);
}
