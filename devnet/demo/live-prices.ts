import { setTimeout as sleep } from 'node:timers/promises';
import { swapCall } from '../actions.ts';
import { connectDevChain, type DevChain } from '../dev-chain.ts';
import type { LiveTrade } from '../live/build-block.ts';
import { type LivePool, type LiveSetup, ONE } from '../live/live-pools.ts';
import { type MockLiveBuilder, startMockLiveBuilder } from '../live/mock-live-builder.ts';
import { ETHEREUM_SLOTS } from '../live/pending-block.ts';
import type { Scenario } from '../scenario.ts';
import { type Random, seededRandom } from '../traffic/random.ts';
import { type LivePart, openLivePools, priceWalk } from './live-setup.ts';

export interface LivePriceOptions {
  readonly seed: number;
  /** Seconds between two blocks. */
  readonly slotSecs: number;
}

/** Time between two prices of a pool. */
const UPDATE_MS = 250;
/** Percent of blocks without a trade, in which no update lands. */
const WITHOUT_UPDATE = 45;

/**
 * Makes pools whose prices live with a builder, and lets it build all blocks of the chain from now on: with the
 * traffic's transactions, then, in about half of the blocks,
 * with a trade in each of these pools right behind the update that it needs.
 */
export async function startLivePrices(
  rpcUrl: string,
  scenario: Scenario,
  { seed, slotSecs }: LivePriceOptions,
): Promise<LivePart> {
  const chain = await connectDevChain(rpcUrl);
  const { setup, tokens, pools } = await openLivePools(chain, scenario);
  const builder = await startMockLiveBuilder(chain, { slots: { ...ETHEREUM_SLOTS, slotSecs: BigInt(slotSecs) } });
  const play = playMarket(chain, { setup, pools, builder, random: seededRandom(seed), slotMs: slotSecs * 1_000 });
  return {
    pools,
    tokens,
    live: {
      sources: [
        {
          kind: 'builder-overrides',
          wsUrls: [builder.builderStreamUrl],
          rpcUrls: [builder.builderRpcUrl],
          republish: true,
        },
      ],
    },
    note: `${pools.length} pools, a block every ${slotSecs} s, ${builder.builderStreamUrl}`,
    ended: play.ended,
    stop: async () => {
      await play.stop();
      await builder.stop();
    },
  };
}

interface LiveMarket {
  readonly setup: LiveSetup;
  readonly pools: readonly LivePool[];
  readonly builder: MockLiveBuilder;
  readonly random: Random;
  readonly slotMs: number;
}

/**
 * Updates prices and builds blocks, one after the other: a builder takes no update while it builds. What users of the
 * demo do to the chain meanwhile may fail a step, never the next ones.
 */
function playMarket(chain: DevChain, { setup, pools, builder, random, slotMs }: LiveMarket) {
  let stopping = false;
  const walk = priceWalk(random);
  let builtAt = performance.now();
  const update = async (): Promise<void> => {
    const price = walk();
    for (const { maker } of pools) builder.submit(await maker.sign(builder.block(), price));
  };
  const trades = tradesOf(chain, setup, random);
  /** Whether the next slot has come. A user may have mined into the future, which is not waited for. */
  const isDue = () => Date.now() >= Number(builder.block().timeSecs) * 1_000 || performance.now() - builtAt >= slotMs;
  const step = async (): Promise<void> => {
    await builder.followHead();
    await update();
    if (!isDue()) return;
    builtAt = performance.now();
    await builder.buildBlock(random.chance(WITHOUT_UPDATE) ? {} : { trades: pools.map(trades) });
  };
  const run = async (): Promise<string> => {
    while (!stopping) {
      const startedAt = performance.now();
      await step().catch(() => undefined); // The end of the node is noticed by who started it.
      await sleep(Math.max(0, UPDATE_MS - (performance.now() - startedAt)));
    }
    return 'stopped';
  };
  const ended = run();
  return {
    ended,
    stop: async () => {
      stopping = true;
      await ended;
    },
  };
}

/** Plans a trade of up to three token0, which takes back what earlier trades moved: pools run empty in no direction. */
function tradesOf(chain: DevChain, setup: LiveSetup, random: Random): (pool: LivePool) => LiveTrade {
  /** token0 that trades brought into each pool, raw. */
  const moved = new Map<LivePool, bigint>();
  return (pool) => {
    const before = moved.get(pool) ?? 0n;
    const amount = (ONE * BigInt(random.integer(1, 3_000))) / 1_000n;
    const zeroForOne = before <= 0n;
    moved.set(pool, zeroForOne ? before + amount : before - amount);
    // Exactly this much of token0 either way.
    const amountSpecified = zeroForOne ? amount : -amount;
    const order = { pool: pool.address, zeroForOne, amountSpecified, trader: chain.roles.trafficTrader };
    return { transaction: swapCall(chain, setup[pool.layout], order), feedIds: [pool.feedId] };
  };
}
