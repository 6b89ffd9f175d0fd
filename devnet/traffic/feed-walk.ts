import { encodeFunctionData, type Hex } from 'viem';
import { E6 } from '../../protocol/fixed-point.ts';
import { oracleAbi } from '../abi.ts';
import type { DevChain, Transaction } from '../dev-chain.ts';
import { quoteProviderAbi } from '../packed/abi.ts';
import { type ScenarioToken, toX64 } from '../scenario/market.ts';
import { packedQuote } from '../scenario/packed-pools.ts';
import type { Scenario } from '../scenario.ts';
import type { TrafficWorld } from './world.ts';

/** Steps and bounds of a feed's walk around its first price, millionths. */
const FREE = { step: 1_500, bound: 20_000 } as const;
const PEGGED = { step: 30, bound: 300 } as const;
const E12 = 10n ** 12n;

/** Gives how far each feed is from its first price, millionths: traffic goes on where earlier traffic ended. */
export async function readFeedOffsets(chain: DevChain, { feeds, deployment }: Scenario): Promise<Map<Hex, number>> {
  const offsets = feeds.map(async ({ id, usd }): Promise<[Hex, number]> => {
    const call = { address: deployment.oracle, abi: oracleAbi, functionName: 'feeds', args: [id] } as const;
    const [priceX64] = await chain.client.readContract(call);
    const first = toX64(usd);
    return [id, priceX64 === 0n ? 0 : Number((priceX64 * E6 + first / 2n) / first - E6)];
  });
  return new Map(await Promise.all(offsets));
}

/**
 * Moves a feed a little, never far from where it began: stop losses of the busy pools keep their room. Providers of
 * packed pools, which follow no feed, receive what they follow of it.
 */
export async function planFeedMove(world: TrafficWorld): Promise<readonly Transaction[]> {
  const { chain, scenario, random, memory } = world;
  const feed = random.pick(scenario.feeds.filter(({ moves }) => moves));
  const { step, bound } = isPegged(feed.usd) ? PEGGED : FREE;
  const moved = (memory.feedOffsetsE6.get(feed.id) ?? 0) + random.integer(-step, step);
  const offset = Math.max(-bound, Math.min(bound, moved));
  memory.feedOffsetsE6.set(feed.id, offset);
  const args = [feed.id, movedX64(feed.usd, offset), BigInt(feed.spreadE6) * E12] as const;
  const data = encodeFunctionData({ abi: oracleAbi, functionName: 'post', args });
  const post = { from: chain.roles.owner, to: scenario.deployment.oracle, data };
  return [post, ...planQuotes(world, feed.id)];
}

/** New quotes of the packed pools that trade a token of this feed. */
function planQuotes({ chain, scenario, memory }: TrafficWorld, feedId: string): readonly Transaction[] {
  const priceOf = ({ usd, feedId: id }: ScenarioToken) => movedX64(usd, memory.feedOffsetsE6.get(id) ?? 0);
  return scenario.pools.flatMap(({ generation, token0, token1, priceProvider }) => {
    const pair = [token0, token1].flatMap((address) => scenario.tokens.filter((token) => token.address === address));
    const [first, second] = pair;
    if (generation !== 'packed' || !first || !second || !pair.some((token) => token.feedId === feedId)) return [];
    const quote = packedQuote(priceOf(first), priceOf(second));
    const data = encodeFunctionData({ abi: quoteProviderAbi, functionName: 'setQuote', args: [quote] });
    return [{ from: chain.roles.owner, to: priceProvider, data }];
  });
}

function movedX64(usd: string, offsetE6: number): bigint {
  return (toX64(usd) * (E6 + BigInt(offsetE6))) / E6;
}

function isPegged(usd: string): boolean {
  return Math.abs(Number(usd) - 1) < 0.01;
}
