import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { flatPool } from '../../quoting/pools/served-pool.fixture.ts';
import { createLogger } from '../../runtime/logger.ts';
import { stopTime } from '../../test/harness/stopped-time.ts';
import { SimulatedChain } from '../../test/stream/simulated-chain.ts';
import { decodeBuilderFrame } from '../../test/takers/decoders.ts';
import { toListingQuery } from '../listing/query.ts';
import { MAX_WILDCARD_POOLS } from '../sockets/pool-lists.ts';
import { FrameFeeds } from './frame-feed.ts';
import type { LevelsQuery } from './levels-query.ts';
import { OneState } from './one-state.ts';
import { PriceLevels } from './price-levels.ts';
import { unknownGas, unknownShares } from './unknown-extras.fixture.ts';
import type { LevelsChain } from './write-levels.ts';

/* Frames of a chain whose time, blocks, nodes and budget the tests set. */

const RICH = { callsPerMinute: 100_000 };
const POOR = { callsPerMinute: 60 };
/** Pools of the chain; the second one is read ahead for keys only. */
const POOLS = 8;
const FOR_KEYS = 1;

beforeEach(stopTime);

const QUERY = { format: 'builder', venue: null, listed: null, basis: 'committed' } as const;

const settle = async () => {
  for (let turn = 0; turn < 12; turn++) await new Promise(setImmediate);
};

function startWorld(budget: typeof RICH, blockTimeMs = 1_000) {
  const chain = new SimulatedChain(POOLS);
  const process = chain.startProcess(budget);
  const now = () => chain.now;
  const feeds = new FrameFeeds(createLogger('test', 'silent'), now);
  const config = { chainId: 7, blockTimeMs, ...process, ...unknownGas } as unknown as ChainConfig & LevelsChain;
  const latest = { live: process.quotes, committed: process.quotes };
  const choose = async (_chain: unknown, { pools }: Pick<LevelsQuery, 'pools'>) =>
    chain.pools.filter(({ address }) => pools === null || pools.includes(address));
  const levels = new PriceLevels({
    chain: config,
    latest,
    choose,
    shares: unknownShares,
    feeds,
    now,
    stamp: async () => Date.now(),
  });
  /** Lets time pass in steps that are shorter than any timer. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      chain.now += 50;
      await vi.advanceTimersByTimeAsync(50);
      await settle();
    }
  };
  /** Mines a block a second after the last one. @param change of the nodes, just before */
  const mine = async (change: () => void = () => undefined) => {
    await pass(1_000);
    change();
    chain.now -= 1_000;
    chain.mine([]);
    process.heads.push(chain.head);
  };
  const nextBlock = async (change?: () => void) => {
    await mine(change);
    await settle();
  };
  /** Opens a feed of the pools with these indexes, and notes its frames. */
  const open = async (indexes: readonly number[], byKey = false) => {
    const pools = indexes.map((index) => addressOf(chain, index));
    const query: LevelsQuery = { ...QUERY, pools };
    const frames: { readonly at: number; readonly block: bigint; readonly pools: readonly number[] }[] = [];
    const ended: number[] = [];
    const feed = await levels.open(query, byKey);
    feed({
      isReady: true,
      take: ({ frame }) => {
        const { blockNumber, pairs } = decodeBuilderFrame(frame.toString());
        const shown = pairs.map(({ pamm }) => chain.pools.findIndex(({ address }) => address === pamm));
        frames.push({ at: chain.now, block: blockNumber - 1n, pools: shown });
      },
      onSilence: () => ended.push(chain.now),
    });
    await settle();
    return { frames, ended };
  };
  /** Reads a frame of the pools with these indexes, as a GET does. */
  const read = async (indexes: readonly number[]) => {
    const pools = indexes.map((index) => addressOf(chain, index));
    const query: LevelsQuery = { ...QUERY, pools };
    const { json, block } = await new OneState(config, 'committed').add(await levels.prepare(query, false))();
    const shown = decodeBuilderFrame(json).pairs.map(({ pamm }) =>
      chain.pools.findIndex(({ address }) => address === pamm),
    );
    return { pools: shown, block: block.number };
  };
  return { chain, process, levels, open, read, pass, mine, nextBlock };
}

/** Pools that are read ahead for anyone. */
const ALL = [0, 2, 3, 4, 5, 6, 7];
const addressOf = (chain: SimulatedChain, index: number) => (chain.pools[index] as ServedPool).address;

describe('frames are whole', () => {
  test('when the budget has no calls for all pools of each block', async () => {
    const { open, nextBlock } = startWorld(POOR);
    const { frames, ended } = await open(ALL);
    for (let block = 0; block < 8; block++) await nextBlock();
    expect(frames.map(({ pools }) => pools)).toEqual(frames.map(() => ALL));
    expect(ended).toEqual([]);
  });

  test('and late, when the pools of a block are read one after the other', async () => {
    const { open, pass } = startWorld({ callsPerMinute: 40 }, 12_000);
    const { frames, ended } = await open(ALL, true);
    await pass(20_000);
    expect(frames[0]?.at).toBe(15_000);
    expect(frames.map(({ pools }) => pools)).toEqual(frames.map(() => ALL));
    expect(ended).toEqual([]);
  });

  test('without pools that have no quote at their block', async () => {
    const { chain, open, nextBlock, pass } = startWorld(RICH);
    const { frames } = await open(ALL);
    chain.failing.add(addressOf(chain, 4));
    await nextBlock();
    await pass(500);
    expect(frames[0]).toMatchObject({ block: 10n, pools: ALL });
    expect(frames.at(-1)).toMatchObject({ block: 11n, pools: ALL.filter((index) => index !== 4) });
  });

  test('and wait five seconds for a pool that nodes do not give', async () => {
    const { chain, open, nextBlock, pass } = startWorld(RICH);
    chain.missing.add(addressOf(chain, 4));
    const { frames, ended } = await open(ALL);
    for (let block = 0; block < 8; block++) await nextBlock();
    expect(frames[0]).toEqual({ at: 5_000, block: 14n, pools: ALL.filter((index) => index !== 4) });
    expect(ended).toEqual([]);
    chain.missing.clear();
    await nextBlock();
    await pass(500);
    expect(frames.at(-1)).toMatchObject({ block: 19n, pools: ALL });
  });

  test('and do so when the budget has no calls for that pool at each block', async () => {
    const { chain, open, nextBlock } = startWorld(POOR);
    chain.missing.add(addressOf(chain, 4));
    const { frames, ended } = await open([0, 4]);
    for (let block = 0; block < 15; block++) await nextBlock();
    expect(frames[0]).toEqual({ at: 5_000, block: 14n, pools: [0] });
    expect(frames.map(({ pools }) => pools)).toEqual(frames.map(() => [0]));
    expect(ended).toEqual([]);
  });

  test('and empty, while no pool has a quote at its block', async () => {
    const { chain, open, nextBlock, pass } = startWorld(RICH);
    for (const index of ALL) chain.failing.add(addressOf(chain, index));
    const { frames, ended } = await open(ALL);
    for (let block = 0; block < 4; block++) await nextBlock();
    await pass(500);
    expect(frames.at(-1)).toMatchObject({ block: 14n, pools: [] });
    expect(ended).toEqual([]);
  });

  test('without pools that are read ahead for keys only, when the client has none', async () => {
    const { open, nextBlock, pass } = startWorld(RICH);
    const [anonymous, keyed] = [await open([0, FOR_KEYS]), await open([0, FOR_KEYS], true)];
    await nextBlock();
    await pass(500);
    expect(anonymous.frames.at(-1)?.pools).toEqual([0]);
    expect(keyed.frames.at(-1)?.pools).toEqual([0, FOR_KEYS]);
  });
});

test('frames of no pools come each second until nodes fail, though nothing else asks for the head', async () => {
  const { chain, open, pass } = startWorld(RICH);
  const { frames, ended } = await open([]);
  await pass(9_000);
  expect(frames.map(({ at }) => at)).toEqual(Array.from({ length: 11 }, (_, index) => 900 * index));
  expect(ended).toEqual([]);
  chain.isDown = true;
  await pass(5_000);
  expect(ended).toEqual([(frames.at(-1)?.at ?? 0) + 2_000]);
  // The head is not polled any more.
  expect(vi.getTimerCount()).toBe(0);
});

describe('a single frame', () => {
  test('has all pools, also those for which the budget has no calls', async () => {
    const { open, read, mine } = startWorld(POOR);
    await open(ALL);
    for (let block = 11n; block < 15n; block += 1n) {
      // Reads of the budget have begun.
      await mine();
      expect(await read([...ALL, FOR_KEYS])).toEqual({ pools: [0, FOR_KEYS, ...ALL.slice(1)], block });
    }
  });

  test('is a 503 for five seconds while nodes do not give a pool, then leaves it out', async () => {
    const { chain, read, pass } = startWorld(RICH);
    chain.missing.add(addressOf(chain, 4));
    await expect(read(ALL)).rejects.toMatchObject({ status: 503 });
    await pass(4_950);
    await expect(read(ALL)).rejects.toMatchObject({ status: 503 });
    await pass(50);
    expect((await read(ALL)).pools).toEqual(ALL.filter((index) => index !== 4));
    chain.missing.clear();
    expect((await read(ALL)).pools).toEqual(ALL);
  });
});

test('on a chain of many pools those of a filter are read, and all are refused', async () => {
  const { chain, levels } = startWorld(RICH);
  for (let number = 0; number < MAX_WILDCARD_POOLS; number += 1)
    chain.table.put(flatPool(1_000 + number, { chainId: 7 }));
  const listed = toListingQuery({ tier: 'green' }, ['tiered']);
  await expect(levels.open({ ...QUERY, pools: null, listed }, true)).resolves.toBeTypeOf('function');
  await expect(levels.open({ ...QUERY, pools: null }, true)).rejects.toMatchObject({ status: 400 });
});

describe('readers are sent away', () => {
  test('two seconds after the head is not known any more', async () => {
    const { chain, open, nextBlock, pass } = startWorld(RICH);
    const { frames, ended } = await open(ALL);
    await nextBlock();
    chain.isDown = true;
    await pass(8_000);
    expect(ended).toHaveLength(1);
    expect((ended[0] ?? 0) - (frames.at(-1)?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect((ended[0] ?? 0) - (frames.at(-1)?.at ?? 0)).toBeLessThan(3_000);
  });

  test('ten seconds after the last frame, when the budget never has calls for all pools', async () => {
    const { open, nextBlock } = startWorld(POOR);
    const { frames, ended } = await open(ALL);
    for (let block = 0; block < 15; block++) await nextBlock();
    expect(ended).toEqual([(frames.at(-1)?.at ?? 0) + 10_000]);
  });
});

const step = fc.record({
  fail: fc.subarray(ALL, { maxLength: 2 }),
  lose: fc.subarray(ALL, { maxLength: 2 }),
  find: fc.subarray(ALL),
});

test('whatever fails, frames lack only pools without a quote at their block, and those that nodes do not give', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 5, maxLength: 16 }),
    fc.boolean(),
    fc.boolean(),
    async (steps, isPoor, byKey) => {
      // Those of the world before.
      vi.clearAllTimers();
      const { chain, open, nextBlock, pass } = startWorld(isPoor ? POOR : RICH);
      const { frames, ended } = await open(ALL, byKey);
      const failingAt = new Map<bigint, readonly number[]>();
      const lostAt = new Map<number, number>();
      let checked = 0;
      const checkFrames = () => {
        for (const { at, block, pools } of frames.slice(checked)) {
          for (const index of pools) if (!chain.missing.has(addressOf(chain, index))) lostAt.delete(index);
          const isLost = (index: number) => (lostAt.get(index) ?? at) <= at - 5_000;
          const absent = ALL.filter((index) => !pools.includes(index) && !failingAt.get(block)?.includes(index));
          expect(absent.filter((index) => !isLost(index))).toEqual([]);
        }
        checked = frames.length;
      };
      for (const { fail, lose, find } of [...steps, { fail: [], lose: [], find: ALL }]) {
        await nextBlock(() => {
          chain.failing.clear();
          for (const index of fail) chain.failing.add(addressOf(chain, index));
          for (const index of lose) if (!chain.missing.has(addressOf(chain, index))) lostAt.set(index, chain.now);
          for (const index of lose) chain.missing.add(addressOf(chain, index));
          for (const index of find) chain.missing.delete(addressOf(chain, index));
          failingAt.set(chain.head.block.number + 1n, fail);
        });
        checkFrames();
      }
      await pass(500);
      checkFrames();
      if (!isPoor && ended.length === 0)
        expect(frames.at(-1)).toMatchObject({ block: chain.head.block.number, pools: ALL });
    },
  );
  await fc.assert(property, { numRuns: 100 });
});
