import { encodeFunctionData } from 'viem';
import { E6 } from '../../protocol/fixed-point.ts';
import { oracleAbi } from '../abi.ts';
import type { Transaction } from '../dev-chain.ts';
import { toX64 } from '../scenario/market.ts';
import type { TrafficWorld } from './world.ts';

/** Steps and bounds of a feed's walk around its first price, millionths. */
const FREE = { step: 1_500, bound: 20_000 } as const;
const PEGGED = { step: 30, bound: 300 } as const;
const E12 = 10n ** 12n;

/** Moves a feed a little, never far from where it began: stop losses of the busy pools keep their room. */
export async function planFeedMove({ chain, scenario, random, memory }: TrafficWorld): Promise<readonly Transaction[]> {
  const feed = random.pick(scenario.feeds.filter(({ moves }) => moves));
  const { step, bound } = isPegged(feed.usd) ? PEGGED : FREE;
  const moved = (memory.feedOffsetsE6.get(feed.id) ?? 0) + random.integer(-step, step);
  const offset = Math.max(-bound, Math.min(bound, moved));
  memory.feedOffsetsE6.set(feed.id, offset);
  const priceX64 = (toX64(feed.usd) * (E6 + BigInt(offset))) / E6;
  const args = [feed.id, priceX64, BigInt(feed.spreadE6) * E12] as const;
  const data = encodeFunctionData({ abi: oracleAbi, functionName: 'post', args });
  return [{ from: chain.roles.owner, to: scenario.deployment.oracle, data }];
}

function isPegged(usd: string): boolean {
  return Math.abs(Number(usd) - 1) < 0.01;
}
