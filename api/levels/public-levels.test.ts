import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { createLogger } from '../../runtime/logger.ts';
import { stopTime } from '../../test/harness/stopped-time.ts';
import { SimulatedChain } from '../../test/stream/simulated-chain.ts';
import { decodeBuilderFrame } from '../../test/takers/decoders.ts';
import { FrameFeeds } from './frame-feed.ts';
import { publicQuery } from './levels-query.ts';
import { PriceLevels } from './price-levels.ts';
import { unknownGas, unknownShares } from './unknown-extras.fixture.ts';
import type { LevelsChain } from './write-levels.ts';

/* What all see who have no key and choose nothing, on a chain whose time, blocks and budget the tests set. */

beforeEach(stopTime);

const QUERY = publicQuery('builder', 'committed');

function startWorld({ count = 6, callsPerMinute = 100_000, publicCalls = 100_000 } = {}) {
  const chain = new SimulatedChain(count);
  const process = chain.startProcess({ callsPerMinute });
  const reads = vi.spyOn(process.reader, 'prices');
  const now = () => chain.now;
  const feeds = new FrameFeeds(createLogger('test', 'silent'), now);
  const warmBudget = { callsPerMinute: publicCalls };
  const config = { chainId: 7, blockTimeMs: 1_000, warmBudget, ...process, ...unknownGas } as unknown as ChainConfig &
    LevelsChain;
  const levels = new PriceLevels({
    chain: config,
    latest: { live: process.quotes, committed: process.quotes },
    choose: async () => chain.pools,
    shares: unknownShares,
    feeds,
    now,
    stamp: async () => Date.now(),
  });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      chain.now += 50;
      await vi.advanceTimersByTimeAsync(50);
      for (let turn = 0; turn < 12; turn++) await new Promise(setImmediate);
    }
  };
  const nextBlock = async () => {
    await pass(1_000);
    chain.now -= 1_000;
    chain.mine([]);
    process.heads.push(chain.head);
    await pass(50);
    chain.now -= 50;
  };
  const decode = (text: string) => {
    const { pairs, omitted } = decodeBuilderFrame(text);
    const pools = pairs.map(({ pamm }) => chain.pools.findIndex(({ address }) => address === pamm));
    return { pools, omitted: Number(omitted) };
  };
  /** Reads a frame, as a GET does. */
  const read = async () => decode(String((await levels.readPublic(QUERY)).body.content));
  /** Opens a WebSocket. */
  const open = async () => {
    const frames: ReturnType<typeof decode>[] = [];
    const ended: number[] = [];
    const feed = await levels.open(QUERY, false);
    const leave = feed({
      isReady: true,
      take: ({ frame }) => frames.push(decode(frame.toString())),
      onSilence: () => ended.push(chain.now),
    });
    return { frames, ended, leave };
  };
  return { chain, process, levels, reads, pass, nextBlock, read, open };
}

/** What nodes and this process do for a number of readers over five blocks. */
async function costOf(readers: number) {
  const { levels, reads, nextBlock, read, open } = startWorld();
  const opened = await Promise.all(Array.from({ length: readers }, open));
  for (let block = 0; block < 5; block++) {
    const asked = Promise.all(Array.from({ length: readers }, read));
    await nextBlock();
    const answers = await asked;
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  }
  for (const { frames, ended } of opened) expect([frames.length > 4, ended]).toEqual([true, []]);
  return { reads: reads.mock.calls.length, frames: opened[0]?.frames.length, readers: levels.readers };
}

test('many readers cost the nodes what one costs, and one frame is made for all', async () => {
  const [one, many] = [await costOf(1), await costOf(200)];
  expect([one.readers, many]).toEqual([1, { ...one, readers: 200 }]);
  expect(one.reads).toBeGreaterThan(5);
});

test('a frame has the pools that are read for anyone, and says how many it leaves out', async () => {
  const { nextBlock, read } = startWorld();
  const asked = read();
  await nextBlock();
  // The pool at 1 is read ahead for keys only.
  expect(await asked).toEqual({ pools: [0, 2, 3, 4, 5], omitted: 1 });
});

test('pools are read while somebody reads, and for 30 seconds after', async () => {
  const { process, reads, nextBlock, read, open, pass } = startWorld();
  const asked = read();
  await nextBlock();
  await asked;
  await pass(25_000);
  expect(process.requested.own()).toHaveLength(5);
  // Pools count as requested for five seconds more here.
  await pass(11_000);
  expect(process.requested.own()).toEqual([]);
  const before = reads.mock.calls.length;
  for (let block = 0; block < 3; block++) await nextBlock();
  expect(reads.mock.calls.length).toBe(before);
  const { frames, leave } = await open();
  for (let block = 0; block < 40; block++) await nextBlock();
  expect(process.requested.own()).toHaveLength(5);
  expect(frames.length).toBeGreaterThan(30);
  leave();
});

describe('when calls are few', () => {
  test('pools of least value are not in the view at all', async () => {
    const { nextBlock, read, process } = startWorld({ publicCalls: 15 });
    const asked = read();
    await nextBlock();
    // The one that is read ahead for keys only takes no place.
    expect(await asked).toEqual({ pools: [0, 2, 3], omitted: 3 });
    expect(process.requested.own()).toHaveLength(3);
  });

  test('frames come late, and without pools that were not read, but they come', async () => {
    const { nextBlock, open } = startWorld({ callsPerMinute: 60 });
    const { frames, ended } = await open();
    for (let block = 0; block < 40; block++) await nextBlock();
    expect(ended).toEqual([]);
    expect(frames.length).toBeGreaterThan(4);
    for (const { pools, omitted } of frames) expect([pools.length > 0, pools.length + omitted]).toEqual([true, 6]);
  });
});

test('readers hear when nodes give nothing', async () => {
  const { chain, read, pass, nextBlock } = startWorld();
  const asked = read();
  await nextBlock();
  await asked;
  chain.isDown = true;
  await pass(8_000);
  await expect(read()).rejects.toMatchObject({ status: 503 });
});
