import { encodeFunctionData } from 'viem';
import { E6 } from '../../protocol/fixed-point.ts';
import { routerAbi } from '../abi.ts';
import { noPriceLimit } from '../actions.ts';
import type { Transaction } from '../dev-chain.ts';
import type { ScenarioToken } from '../scenario/market.ts';
import { toX64 } from '../scenario/market.ts';
import type { ScenarioPool } from '../scenario/plan.ts';
import { busyPools, deploymentOf, glance, type PoolGlance, type TrafficWorld } from './world.ts';

/** A swap of some size in some busy pool, more often towards the pool's middle than outwards. */
export async function planSwap(world: TrafficWorld): Promise<readonly Transaction[]> {
  const { chain, random } = world;
  const pool = random.pick(busyPools(world));
  const state = await glance(world, pool);
  const zeroForOne = random.chance(50 + awayFromMiddle(pool, state));
  const amountSpecified = amountOf(world, pool, state, zeroForOne);
  if (amountSpecified === 0n) return [];
  const args = [pool.address, zeroForOne, amountSpecified, noPriceLimit(zeroForOne)] as const;
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'swap', args });
  return [{ from: chain.roles.trafficTrader, to: deploymentOf(world, pool).swapRouter, data }];
}

/** From -40 at the lowest bin to 40 at the highest. */
function awayFromMiddle({ lowestBin, highestBin }: ScenarioPool, { bin }: PoolGlance): number {
  const middle = (lowestBin + highestBin) / 2;
  return Math.round((40 * (bin - middle)) / Math.max(1, highestBin - middle));
}

/** Positive: exact input; negative: exact output. Raw units. */
function amountOf(
  { scenario, random }: TrafficWorld,
  pool: ScenarioPool,
  state: PoolGlance,
  zeroForOne: boolean,
): bigint {
  const token0 = tokenOf(scenario.tokens, pool.token0);
  const token1 = tokenOf(scenario.tokens, pool.token1);
  const [tokenIn, tokenOut] = zeroForOne ? [token0, token1] : [token1, token0];
  if (random.chance(3)) return BigInt(random.integer(1, 100));
  const total = ((zeroForOne ? state.total1 : state.total0) * 10n ** BigInt(tokenOut.decimals)) / 10n ** 18n;
  const output = (total * sizeE6(random)) / E6;
  if (random.chance(40)) return -output;
  const value = output * toX64(tokenOut.usd) * 10n ** BigInt(tokenIn.decimals);
  return value / (toX64(tokenIn.usd) * 10n ** BigInt(tokenOut.decimals));
}

/** Part of the pool's output balance: mostly small, sometimes bins deep, rarely more than there is. */
function sizeE6(random: TrafficWorld['random']): bigint {
  if (random.chance(1)) return 1_100_000n;
  const largest = random.pick([100, 1_000, 10_000, 10_000, 80_000]);
  return BigInt(random.integer(1, largest));
}

function tokenOf(tokens: readonly ScenarioToken[], address: string): ScenarioToken {
  const token = tokens.find((candidate) => candidate.address === address);
  if (token === undefined) throw new Error(`the scenario has no token ${address}`);
  return token;
}
