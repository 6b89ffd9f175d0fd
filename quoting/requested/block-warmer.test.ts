import { beforeEach, expect, test, vi } from 'vitest';
import { stopTime } from '../../test/harness/stopped-time.ts';
import { SimulatedChain } from '../../test/stream/simulated-chain.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { WarmResult } from './warm-result.ts';

const RICH = { callsPerMinute: 100_000 };

beforeEach(stopTime);

const settle = async (turns = 20) => {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
};

function start(chain: SimulatedChain, budget: { callsPerMinute: number; keepMs?: number } = RICH) {
  const process = chain.startProcess(budget);
  const results: WarmResult[] = [];
  process.warmer.onResult((result) => result && results.push(result));
  const nextBlock = async () => {
    results.length = 0;
    chain.mine([]);
    process.heads.push(chain.head);
    await settle();
  };
  /** Of the last block, the pools that were read and those that were not, by index. */
  const outcomes = (kind: WarmResult['kind']) => {
    const reported = results.filter((result) => result.kind === kind).flatMap((result) => [...result.outcomes]);
    const indexesOf = (isRead: boolean) =>
      reported
        .filter(([, outcome]) => outcome instanceof SnapshotError !== isRead)
        .map(([address]) => chain.pools.findIndex((pool) => pool.address === address))
        .sort((a, b) => a - b);
    return { read: indexesOf(true), unread: indexesOf(false) };
  };
  return { ...process, results, nextBlock, outcomes };
}

test('requested pools are read at each head for a while, then no head is polled', async () => {
  const chain = new SimulatedChain(4);
  const { requested, nextBlock, outcomes, results } = start(chain);
  requested.markRequested(chain.pools.slice(0, 1), 'depths', false);
  requested.markRequested(chain.pools.slice(2, 3), 'prices', false);
  await settle();
  expect(outcomes('depths')).toEqual({ read: [0], unread: [] });
  expect(outcomes('prices')).toEqual({ read: [2], unread: [] });
  await nextBlock();
  expect([outcomes('depths').read, outcomes('prices').read]).toEqual([[0], [2]]);
  chain.now += 10_000;
  await nextBlock();
  expect([results.length, vi.getTimerCount()]).toEqual([0, 0]);
});

test('a budget that has not calls for all pools leaves out another one each time, never a keyed one for others', async () => {
  const chain = new SimulatedChain(12);
  // Each read takes two calls; half of what is saved is kept for the keyed pool.
  const { requested, nextBlock, outcomes, schedule } = start(chain, { callsPerMinute: 300 });
  for (const [index, { address }] of chain.pools.entries()) requested.pin(address, 'prices', index === 0);
  const readAt = new Map<number, number[]>();
  for (let block = 0; block < 200; block++) {
    await nextBlock();
    const { read, unread } = outcomes('prices');
    expect(read.length + unread.length).toBe(12);
    expect(unread).not.toContain(0);
    for (const index of read) readAt.set(index, [...(readAt.get(index) ?? []), block]);
  }
  for (let index = 1; index < 12; index++) {
    const blocks = [0, ...(readAt.get(index) ?? []), 200];
    expect(Math.max(...blocks.slice(1).map((block, n) => block - (blocks[n] ?? 0)))).toBeLessThan(60);
  }
  expect(schedule.budget.spent('keyed')).toBeLessThanOrEqual(240);
});

test('a read for which the budget has no calls is reported, and a request that joins it reads by itself', async () => {
  const chain = new SimulatedChain(1);
  const { requested, nextBlock, outcomes, snapshots } = start(chain, { callsPerMinute: 2 });
  const [pool] = chain.pools as [ServedPool];
  requested.pin(pool.address, 'prices', true);
  await nextBlock();
  expect(outcomes('prices')).toEqual({ read: [], unread: [0] });
  const unbudgeted = { ...chain.head, reserve: () => false };
  const [scheduled, joined] = await Promise.all([
    snapshots.prices([pool], { at: unbudgeted }),
    snapshots.prices([pool]),
  ]);
  expect(scheduled.get(pool.address)).toMatchObject({ code: 'timed_out' });
  expect(joined.get(pool.address)).toMatchObject({ status: 'healthy', block: chain.head.block });
});

test('short of calls, pools come less often, evenly, and none is reported as not read before its last read is too old', async () => {
  const chain = new SimulatedChain(12);
  const { requested, nextBlock, outcomes, warmer } = start(chain, { callsPerMinute: 300, keepMs: 60_000 });
  for (const { address } of chain.pools) requested.pin(address, 'prices', false);
  const readAt = new Map<number, number[]>();
  const unreadAt = new Set<number>();
  for (let block = 0; block < 200; block++) {
    await nextBlock();
    const { read, unread } = outcomes('prices');
    for (const index of read) readAt.set(index, [...(readAt.get(index) ?? []), chain.now]);
    // What was never read is reported at once.
    for (const index of unread) {
      expect(readAt.has(index)).toBe(false);
      unreadAt.add(block);
    }
    expect(warmer.coverage).toEqual({ requested: 12, unread: 12 - readAt.size });
  }
  expect(readAt.size).toBe(12);
  const gaps = [...readAt.values()].flatMap((times) => times.slice(1).map((at, n) => at - (times[n] ?? 0)));
  expect(Math.max(...gaps)).toBeLessThan(60_000);
  expect(Math.max(...unreadAt)).toBeLessThan(60);
});

/** Requests a pool until the budget, of two reads and one a minute, is exhausted. @returns when it was last read */
async function startShort(chain: SimulatedChain, keepMs: number) {
  const process = start(chain, { callsPerMinute: 8, keepMs });
  process.requested.pin(chain.pools[0]?.address ?? '0x', 'prices', true);
  let lastReadAt = chain.now;
  for (let blocks = 0; blocks < 10; blocks++) {
    await process.nextBlock();
    if (process.outcomes('prices').read.length === 0) return { ...process, lastReadAt };
    lastReadAt = chain.now;
  }
  throw new Error('the budget was not exhausted');
}

test('a pool whose last read is too old is reported as not read, and counted', async () => {
  const chain = new SimulatedChain(1);
  const { nextBlock, outcomes, warmer, lastReadAt } = await startShort(chain, 2_500);
  for (let block = 0; block < 4; block++) {
    const isKept = chain.now - lastReadAt < 2_500;
    expect(outcomes('prices')).toEqual({ read: [], unread: isKept ? [] : [0] });
    expect(warmer.coverage).toEqual({ requested: 1, unread: isKept ? 0 : 1 });
    await nextBlock();
  }
  expect(chain.now - lastReadAt).toBeGreaterThan(2_500);
});

test('a pool is reported soon after its last read became too old, though no head comes', async () => {
  const chain = new SimulatedChain(1);
  const { outcomes, results, lastReadAt } = await startShort(chain, 2_500);
  results.length = 0;
  chain.now = lastReadAt + 2_499;
  await vi.advanceTimersByTimeAsync(500);
  await settle();
  expect(outcomes('prices').unread).toEqual([]);
  chain.now += 1;
  await vi.advanceTimersByTimeAsync(500);
  await settle();
  expect(outcomes('prices').unread).toEqual([0]);
});

test('a failure of the pool itself is reported at once, whatever was read before', async () => {
  const chain = new SimulatedChain(1);
  const { requested, nextBlock, outcomes } = start(chain, { ...RICH, keepMs: 60_000 });
  const { address } = chain.pools[0] as ServedPool;
  requested.pin(address, 'prices', true);
  await nextBlock();
  expect(outcomes('prices').read).toEqual([0]);
  chain.failing.add(address);
  await nextBlock();
  expect(outcomes('prices').unread).toEqual([0]);
});

test('the newest state is read when the budget has calls again, though no head comes', async () => {
  const chain = new SimulatedChain(1);
  const { outcomes } = await startShort(chain, 60_000);
  expect(outcomes('prices')).toEqual({ read: [], unread: [] });
  // Less than after what a read that failed is tried again.
  chain.now += 50_000;
  await vi.advanceTimersByTimeAsync(500);
  await settle();
  expect(outcomes('prices').read).toEqual([0]);
});

test('a simulated pool is read ahead for keys only', async () => {
  const chain = new SimulatedChain(4);
  const { requested, nextBlock, outcomes } = start(chain);
  requested.pin(chain.pools[1]?.address ?? '0x', 'depths', false);
  await nextBlock();
  expect(outcomes('depths')).toEqual({ read: [], unread: [1] });
  requested.pin(chain.pools[1]?.address ?? '0x', 'depths', true);
  await nextBlock();
  expect(outcomes('depths')).toEqual({ read: [1], unread: [] });
});

test('while no node responds every requested pool is reported as not read', async () => {
  const chain = new SimulatedChain(2);
  const { requested, results, outcomes } = start(chain);
  requested.pin(chain.pools[0]?.address ?? '0x', 'prices', false);
  await settle();
  expect(outcomes('prices').read).toEqual([0]);
  chain.isDown = true;
  chain.now += 30_000;
  results.length = 0;
  await vi.advanceTimersByTimeAsync(5_000);
  await settle();
  expect(new Set(outcomes('prices').unread)).toEqual(new Set([0]));
});

test('a listener that throws stops neither the others nor later reads', async () => {
  const chain = new SimulatedChain(1);
  const { requested, warmer, nextBlock, outcomes } = start(chain);
  warmer.onResult(() => {
    throw new Error('a defect');
  });
  requested.markRequested(chain.pools, 'depths', false);
  await settle();
  expect(outcomes('depths').read).toEqual([0]);
  await nextBlock();
  expect(outcomes('depths').read).toEqual([0]);
});
