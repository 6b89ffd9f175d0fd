import { expect, it } from 'vitest';
import { RoutePlan } from '../../api/route/route-response.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import type { ScenarioToken } from '../../devnet/scenario/market.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { swapGuards } from '../../quoting/pools/pool-directory.ts';
import { openWorld } from '../harness/open-world.ts';
import { chainConfig } from '../quotes/quote-world.ts';
import { fixedDirectory, servedPool } from '../quotes/served-pool.ts';
import { readDepth } from './plan-check.ts';
import { postRoute, routeApp } from './route-app.ts';
import type { QuoteSides } from './spec-walk.ts';

/** The market that the demo shows: what a visitor asks must have an answer. */

const CHAIN_ID = 31337;
const ORDER_USD = [1, 1_000, 20_000, 100_000, 500_000];

const world = openWorld(async (ends) => {
  const anvil = await startAnvil({ chainId: CHAIN_ID });
  ends.defer(anvil.stop);
  const { deployment, tokens, pools } = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID });
  const chain = await connectDevChain(anvil.url);
  const served = await Promise.all(pools.map(({ address }) => servedPool(chain, deployment, address)));
  const app = routeApp({ chain: chainConfig(CHAIN_ID, [anvil.url]), directory: fixedDirectory(served) });
  const probed = ['stopLoss', 'priceVelocityGuard'];
  const open = served.filter((pool) => swapGuards(pool).every(({ kind }) => probed.includes(kind)));
  const read = open.map(async ({ address, token0, token1 }) => ({
    token0: token0.address,
    token1: token1.address,
    depth: await readDepth(app, CHAIN_ID, address),
  }));
  return { tokens, app, pools: await Promise.all(read) };
});

/** Tokens that can be had for a token through one pool that gives something for it. */
function within(token: string): string[] {
  const trades = (levels: QuoteSides['bids']) => levels.some(({ cumulativeVolume }) => cumulativeVolume !== '0');
  return world.pools.flatMap(({ token0, token1, depth }) => {
    if (token === token0 && trades(depth.bids)) return [token1];
    return token === token1 && trades(depth.asks) ? [token0] : [];
  });
}

function connectedPairs(): [ScenarioToken, ScenarioToken][] {
  return world.tokens.flatMap((tokenIn) => {
    const near = within(tokenIn.address);
    const reached = new Set([...near, ...near.flatMap(within)]);
    const others = world.tokens.filter(({ address }) => address !== tokenIn.address && reached.has(address));
    return others.map((tokenOut): [ScenarioToken, ScenarioToken] => [tokenIn, tokenOut]);
  });
}

function body(tokenIn: ScenarioToken, tokenOut: ScenarioToken, usd: number) {
  const amountIn = BigInt(Math.round((usd / Number(tokenIn.usd)) * 1e8)) * 10n ** BigInt(tokenIn.decimals);
  return { tokenIn: tokenIn.address, tokenOut: tokenOut.address, amountIn: (amountIn / 10n ** 8n).toString() };
}

it('every connected pair of tokens has a plan, some have a hop, some a split, and each split beats its baseline', async () => {
  const pairs = connectedPairs();
  expect(pairs.length).toBeGreaterThan(10);
  const shapes = new Set<string>();
  for (const [tokenIn, tokenOut] of pairs) {
    for (const usd of ORDER_USD) {
      const { status, body: answer } = await postRoute(world.app, body(tokenIn, tokenOut, usd));
      if (usd === 1)
        expect({ status, pair: `${tokenIn.symbol}/${tokenOut.symbol}`, answer }).toMatchObject({ status: 200 });
      if (status !== 200) continue;
      const plan = RoutePlan.parse(answer);
      shapes.add(plan.routes.length > 1 ? 'split' : (plan.routes[0]?.routeType ?? ''));
      if (plan.routes.length === 1) continue;
      const single = await postRoute(world.app, { ...body(tokenIn, tokenOut, usd), maxRoutes: 1 });
      expect(BigInt(plan.amountOut)).toBeGreaterThan(BigInt(RoutePlan.parse(single.body).amountOut));
    }
  }
  expect([...shapes].sort()).toEqual(['direct', 'one_hop', 'split']);
});
