import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SimulatedChain } from '../../test/stream/simulated-chain.ts';
import { SnapshotError } from '../snapshots/types.ts';
import type { BlockRound } from './types.ts';

const RICH = { callsPerMinute: 100_000, gasPerMinute: 1_000_000_000_000 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const settle = async (turns = 20) => {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
};

function start(chain: SimulatedChain, budget = RICH) {
  const process = chain.startProcess(budget);
  const rounds: BlockRound[] = [];
  process.rounds.onRound((round) => rounds.push(round));
  const nextBlock = async () => {
    rounds.length = 0;
    chain.mine([]);
    process.clock.push(chain.head);
    await settle();
  };
  /** Of the last block, the pools that were read and those that were not, by index. */
  const outcomes = (kind: BlockRound['kind']) => {
    const told = rounds.filter((round) => round.kind === kind).flatMap((round) => [...round.outcomes]);
    const indexesOf = (isRead: boolean) =>
      told
        .filter(([, outcome]) => outcome instanceof SnapshotError !== isRead)
        .map(([address]) => chain.pools.findIndex((pool) => pool.address === address))
        .sort();
    return { read: indexesOf(true), unread: indexesOf(false) };
  };
  return { ...process, rounds, nextBlock, outcomes };
}

test('pools that were asked for are read at each head for a while, then nothing is looked at', async () => {
  const chain = new SimulatedChain(4);
  const { wanted, nextBlock, outcomes, rounds } = start(chain);
  wanted.asked(chain.pools.slice(0, 1), 'depths', false);
  wanted.asked(chain.pools.slice(2, 3), 'prices', false);
  await settle();
  expect(outcomes('depths')).toEqual({ read: [0], unread: [] });
  expect(outcomes('prices')).toEqual({ read: [2], unread: [] });
  await nextBlock();
  expect([outcomes('depths').read, outcomes('prices').read]).toEqual([[0], [2]]);
  chain.now += 10_000;
  await nextBlock();
  expect([rounds.length, vi.getTimerCount()]).toEqual([0, 0]);
});

test('a budget that does not do for all pools leaves out another one each time, never one of worth for others', async () => {
  const chain = new SimulatedChain(4);
  const { wanted, nextBlock, outcomes } = start(chain, { callsPerMinute: 1_000, gasPerMinute: 120_000_000 });
  // Those at odd places have no worth.
  for (const index of [0, 1, 3]) wanted.hold(chain.pools[index]?.address ?? '0x', 'prices', false);
  const unread = new Set<number>();
  for (let block = 0; block < 100; block++) {
    await nextBlock();
    for (const index of outcomes('prices').unread) unread.add(index);
    expect(outcomes('prices').read.length + outcomes('prices').unread.length).toBe(3);
  }
  expect([...unread].sort()).toEqual([1, 3]);
});

test('a read of two calls, of which a block pays for one, is made at every second or third block to the end', async () => {
  const chain = new SimulatedChain(1);
  const { wanted, nextBlock, outcomes } = start(chain, { callsPerMinute: 160, gasPerMinute: 1e12 });
  wanted.hold(chain.pools[0]?.address ?? '0x', 'prices', true);
  const readAt: number[] = [];
  for (let block = 0; block < 120; block++) {
    await nextBlock();
    if (outcomes('prices').read.length > 0) readAt.push(block);
  }
  const gaps = readAt.slice(1).map((block, index) => block - (readAt[index] ?? 0));
  expect(Math.max(...gaps, 120 - (readAt.at(-1) ?? 0))).toBeLessThanOrEqual(3);
});

test('a simulated pool is read ahead for keys only', async () => {
  const chain = new SimulatedChain(4);
  const { wanted, nextBlock, outcomes } = start(chain);
  wanted.hold(chain.pools[1]?.address ?? '0x', 'depths', false);
  await nextBlock();
  expect(outcomes('depths')).toEqual({ read: [], unread: [1] });
  wanted.hold(chain.pools[1]?.address ?? '0x', 'depths', true);
  await nextBlock();
  expect(outcomes('depths')).toEqual({ read: [1], unread: [] });
});

test('while no node answers every wanted pool is told as not read', async () => {
  const chain = new SimulatedChain(2);
  const { wanted, rounds, outcomes } = start(chain);
  wanted.hold(chain.pools[0]?.address ?? '0x', 'prices', false);
  await settle();
  expect(outcomes('prices').read).toEqual([0]);
  chain.isDown = true;
  chain.now += 30_000;
  rounds.length = 0;
  await vi.advanceTimersByTimeAsync(5_000);
  await settle();
  expect(outcomes('prices').unread).toEqual([0]);
});
