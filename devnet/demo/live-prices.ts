import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from '../../local/processes/supervisor.ts';
import { E6, Q64 } from '../../protocol/fixed-point.ts';
import { deployToken, fundAccounts, swapCall } from '../actions.ts';
import type { ServedChain } from '../chains-config.ts';
import { connectDevChain, type DevChain } from '../dev-chain.ts';
import type { LiveTrade } from '../live/build-block.ts';
import { createLivePool, type LivePool, type LiveSetup, ONE } from '../live/live-pools.ts';
import { type MockLiveBuilder, startMockLiveBuilder } from '../live/mock-live-builder.ts';
import { ETHEREUM_SLOTS } from '../live/pending-block.ts';
import { deployRegistry, type FeedPrice } from '../live/registry.ts';
import { feedId } from '../providers.ts';
import type { ScenarioToken } from '../scenario/market.ts';
import type { Scenario } from '../scenario.ts';
import { type Random, seededRandom } from '../traffic/random.ts';

export interface LivePart extends Part {
  readonly pools: readonly LivePool[];
  /** Tokens of these pools alone: orders of the scenario's tokens are not routed through them. */
  readonly tokens: readonly ScenarioToken[];
  readonly live: NonNullable<ServedChain['live']>;
}

export interface LivePriceOptions {
  readonly seed: number;
  /** Seconds between two blocks. */
  readonly slotSecs: number;
}

/** Pools of each layout: one without a guard, one with a stop loss. */
const POOLS = [
  ['flat', 0],
  ['flat', 1],
  ['packed', 0],
  ['packed', 1],
] as const;
const TOKENS = [
  { symbol: 'DUO', name: 'Two dollars', decimals: 18, usd: '2' },
  { symbol: 'UNO', name: 'One dollar', decimals: 18, usd: '1' },
] as const;
const MID_X64 = 2n * Q64;
/** Step and bound of the mid's walk, and half of the spread, millionths: stop losses keep their room. */
const STEP_E6 = 200;
const BOUND_E6 = 4_000;
const HALF_SPREAD_E6 = 100n;
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
  const { setup, tokens } = await openSetup(chain, scenario);
  const pools: LivePool[] = [];
  for (const [layout, number] of POOLS) pools.push(await createLivePool(setup, layout, number));
  const builder = await startMockLiveBuilder(chain, { slots: { ...ETHEREUM_SLOTS, slotSecs: BigInt(slotSecs) } });
  const play = playMarket(chain, { setup, pools, builder, random: seededRandom(seed), slotMs: slotSecs * 1_000 });
  return {
    pools,
    tokens,
    live: {
      sources: [{ kind: 'builder-overrides', wsUrls: [builder.builderStreamUrl], rpcUrls: [builder.builderRpcUrl] }],
    },
    note: `${pools.length} pools, a block every ${slotSecs} s, ${builder.builderStreamUrl}`,
    ended: play.ended,
    stop: async () => {
      await play.stop();
      await builder.stop();
    },
  };
}

async function openSetup(chain: DevChain, { deployment, packed }: Scenario) {
  if (packed === undefined) throw new Error('the scenario has no packed factory');
  const tokens: ScenarioToken[] = [];
  for (const plan of TOKENS) {
    const address = await deployToken(chain, plan);
    const accounts = [chain.roles.provider, chain.roles.trafficTrader];
    for (const each of [deployment, packed]) {
      await fundAccounts(chain, each, address, { accounts, amount: ONE ** 2n });
    }
    tokens.push({ ...plan, address, feed: plan.symbol, feedId: feedId(plan.symbol), listedPrice: true });
  }
  const [token0, token1] = tokens.map(({ address }) => address);
  if (token0 === undefined || token1 === undefined) throw new Error('a pair has two tokens');
  const setup: LiveSetup = { chain, flat: deployment, packed, token0, token1, registry: await deployRegistry(chain) };
  return { setup, tokens };
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
  let offsetE6 = 0;
  let builtAt = performance.now();
  const update = async (): Promise<void> => {
    offsetE6 = Math.max(-BOUND_E6, Math.min(BOUND_E6, offsetE6 + random.integer(-STEP_E6, STEP_E6)));
    for (const { maker } of pools) builder.submit(await maker.sign(builder.block(), priceAt(offsetE6)));
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

function priceAt(offsetE6: number): FeedPrice {
  const midX64 = (MID_X64 * (E6 + BigInt(offsetE6))) / E6;
  return { bidX64: (midX64 * (E6 - HALF_SPREAD_E6)) / E6, askX64: (midX64 * (E6 + HALF_SPREAD_E6)) / E6 };
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
