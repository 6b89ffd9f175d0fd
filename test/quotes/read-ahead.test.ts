import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from 'viem';
import { afterEach, describe, expect, test } from 'vitest';
import { READ_CLASSES } from '../../chain/read-schedule/call-budget.ts';
import { WarmBudgetConfig } from '../../config/read-budget-schema.ts';
import { packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { ONE } from '../../devnet/packed/market.fixture.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { evenBins, stopLossExtension } from '../../devnet/pools.ts';
import { connectSse, type SseClient } from '../stream/sse-client.ts';
import { type StreamApi, startStreamApi } from '../stream/stream-api.ts';
import { openPackedMarket } from './packed-world.ts';
import { chainConfig, makePool, quoteWorld } from './quote-world.ts';
import { directoryOf, fixedDirectory, servedPool } from './served-pool.ts';

const KEY = { Authorization: 'Bearer good' };
const WAIT = { interval: 10 };
const BLOCK_MS = 1_000;

const clients: SseClient[] = [];
let api: StreamApi | undefined;

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await api?.stop();
  api = undefined;
});

async function open(pools: readonly Address[], headers: Record<string, string> = {}): Promise<SseClient> {
  const client = await connectSse(`${api?.base}/stream?pools=${pools.join(',')}`, undefined, headers);
  clients.push(client);
  return client;
}

/** Calls for the state of the chain: looks at its head are not counted. */
const callsOf = ({ calls }: StreamApi) => calls.filter((method) => /^eth_(call|getCode)$/.test(method)).length;

/** Scheduled calls of the last minute. */
const spentBy = ({ chain: { schedule } }: StreamApi) =>
  READ_CLASSES.reduce((sum, kind) => sum + schedule.budget.spent(kind), 0);

describe('a chain with a block a second', () => {
  const PLAIN = 6;
  const world = quoteWorld(async (on) => {
    const spec = { pair: await on.pair(18, 6), price: 2_000 };
    const guard = stopLossExtension(on.deployment, { drawdownE6: 20_000, decayPerSecondE8: 0, timelockSecs: 100 });
    const pools: Address[] = [];
    for (let count = 0; count < 12; count++) {
      pools.push((await makePool(on, { ...spec, extensions: count < PLAIN ? [] : [guard] })).address);
    }
    return { pools, directory: await directoryOf(on, pools) };
  });

  const startApi = (warmBudget: WarmBudgetConfig) =>
    startStreamApi({ chain: chainConfig(31337, [world.anvil.url], { warmBudget }), directory: world.directory });

  /** Mines blocks, and reports for each how many pools each client may trade on; the first block is left out. */
  async function usable(blocks: number, of: readonly SseClient[]): Promise<number[][]> {
    const counts: number[][] = [];
    for (let block = 0; block <= blocks; block++) {
      // biome-ignore lint/plugin: blocks come at the pace that the budget counts on.
      const [next] = await Promise.all([sleep(BLOCK_MS), world.chain.client.mine({ blocks: 1 })]);
      void next;
      const number = Number(await world.chain.client.getBlockNumber());
      for (const { book } of of) await expect.poll(() => book.block ?? -1, WAIT).toBeGreaterThanOrEqual(number);
      if (block > 0) counts.push(of.map(({ book }) => book.quotes.size));
    }
    return counts;
  }

  test('the defaults read every pool of a stream at every block, and so they do of an anonymous one beside it', async () => {
    api = await startApi(WarmBudgetConfig.parse({}));
    const [keyed, anonymous] = [await open(world.pools.slice(0, 5), KEY), await open(world.pools)];
    expect(await usable(4, [keyed, anonymous])).toEqual(Array.from({ length: 4 }, () => [5, 12]));
    expect(api.chain.warmer.coverage).toEqual({ requested: 12, unread: 0 });
  });

  test('short of calls, keyed pools are read at every block whatever an anonymous stream requests, whose pools take turns', async () => {
    api = await startApi(WarmBudgetConfig.parse({ callsPerMinute: 160 }));
    const anonymous = await open([...world.pools].reverse());
    await usable(3, [anonymous]);
    // Two calls a block, which the rest of the budget would not pay for beside four of the anonymous client.
    const keyed = await open(world.pools.slice(0, 5), KEY);
    const counts = await usable(10, [keyed, anonymous]);
    expect(counts.map(([ofKeyed]) => ofKeyed)).toEqual(Array.from({ length: 10 }, () => 5));
    expect(Math.min(...counts.map(([, ofAnonymous]) => ofAnonymous ?? 0))).toBeLessThan(12);
    const { updates, stale } = turnsOf(anonymous);
    // Whatever was left out at some block was read again at a later one.
    expect([...stale.keys()].filter((pool) => (updates.get(pool) ?? 0) === 0)).toEqual([]);
    expect(spentBy(api)).toBeLessThanOrEqual(160);
    expect(callsOf(api)).toBeLessThanOrEqual(spentBy(api));
  });

  /** How often each pool was reported, and reported as not read. */
  function turnsOf({ messages }: SseClient) {
    const [updates, stale] = [new Map<string, number>(), new Map<string, number>()];
    const count = (of: Map<string, number>, list: readonly { poolAddress: string }[] = []) => {
      for (const { poolAddress } of list) of.set(poolAddress, (of.get(poolAddress) ?? 0) + 1);
    };
    for (const { event, data } of messages) {
      const { quotes, pools: named } = data as {
        quotes?: { poolAddress: string }[];
        pools?: { poolAddress: string }[];
      };
      count(updates, quotes);
      if (event === 'stale') count(stale, named);
    }
    return { updates, stale };
  }
});

describe.each([
  ['sumOnPrice', 'formula'],
  ['quotient', 'fit'],
  ['growing', 'simulation'],
] as const)('pools that charge by the rule %s', (rule, method) => {
  test(`take the calls that the budget counts for ${method}, with a stop loss and without`, async () => {
    const market = await openPackedMarket(packedVariant(rule));
    const { chain, deployment, anvil } = market.setup;
    try {
      const guard = packedStopLossExtension(deployment, {
        drawdownE6: 100_000,
        decayPerSecondE18: 0n,
        timelockSecs: 60,
      });
      const bins = evenBins(-4, 4, 10_000).map((bin) => ({ ...bin, addFeeBuyE6: bin.bin < 2 ? 300 : 800 }));
      const pools: Address[] = [];
      for (const extensions of [[], [], [guard]]) {
        const own = await market.fundedPool(() => extensions, undefined, { bins, adminNotionalFeeE8: 5_000 });
        await market.buy(own, 150n * ONE);
        pools.push(own.pool.toLowerCase() as Address);
      }
      const served = pools.map((address) => servedPool(chain, deployment, address, 'bidAsk', 'packed'));
      const directory = fixedDirectory(await Promise.all(served));
      const config = chainConfig(chain.chainId, [chain.rpcUrl], { blockTimeMs: 200 });
      api = await startStreamApi({ chain: config, directory });
      const own = api;
      const { book } = await open(pools, KEY);
      const nextBlock = async () => {
        const before = [callsOf(own), spentBy(own)] as const;
        await chain.client.mine({ blocks: 1 });
        const number = Number(await chain.client.getBlockNumber());
        await expect.poll(() => book.block ?? -1, WAIT).toBeGreaterThanOrEqual(number);
        expect(book.quotes.size).toBe(3);
        return { made: callsOf(own) - before[0], counted: spentBy(own) - before[1] };
      };
      // A pool's first read finds out how its curve is known: it may take more.
      await nextBlock();
      for (let block = 0; block < 5; block++) {
        const { made, counted } = await nextBlock();
        expect([method, made]).toEqual([method, counted]);
      }
    } finally {
      await anvil.stop();
    }
  });
});
