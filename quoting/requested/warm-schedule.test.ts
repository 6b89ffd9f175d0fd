import fc from 'fast-check';
import { toHex } from 'viem';
import { expect, test } from 'vitest';
import { READ_CLASSES, type ReadClass } from '../../chain/read-schedule/call-budget.ts';
import { WarmBudgetConfig } from '../../config/read-budget-schema.ts';
import { runs } from '../../test/harness/property-seed.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { warmKey } from './requested-pools.ts';
import { type WarmBatch, type WarmRead, WarmSchedule } from './warm-schedule.ts';

/** A requested pool, and what reading it takes: calls that all pools of a batch share, and calls of its own. */
interface Requested {
  readonly read: WarmRead;
  readonly isFunded: boolean;
  readonly shared: number;
  readonly own: number;
}

let made = 0;
const requestedOf = (pool: Partial<Omit<Requested, 'read'>> & { readonly byKey?: boolean }): Requested => {
  const address = toHex(made++, { size: 20 });
  const { byKey = false, ...rest } = pool;
  const read: WarmRead = { address, kind: 'depths', byKey, pool: { address } as ServedPool };
  return { read, isFunded: true, shared: 2, own: 0, ...rest };
};

/** Reads at each block with a clock of its own, as nodes would be called. */
function start(all: readonly Requested[], callsPerMinute: number) {
  const clock = { now: 0 };
  const byKey = new Map(all.map((entry) => [warmKey(entry.read), entry]));
  const funded = new Set(all.filter(({ isFunded }) => isFunded).map(({ read }) => read.pool));
  const calls: { readonly at: number; readonly kind: ReadClass }[] = [];
  const schedule = new WarmSchedule({
    callsPerMinute,
    isFunded: (pool) => funded.has(pool),
    now: () => clock.now,
  });
  /** @returns what was read, of calls that were made to the end */
  const makeCalls = ({ kind, reads, reserve }: WarmBatch): WarmRead[] => {
    const call = () => {
      const isMade = reserve();
      if (isMade) calls.push({ at: clock.now, kind });
      return isMade;
    };
    const needs = reads.map((read) => byKey.get(warmKey(read)) as Requested);
    const shared = Math.max(...needs.map((need) => need.shared));
    let phases = 0;
    while (phases < shared && call()) phases += 1;
    const begun = reads.filter((_, index) => (needs[index]?.shared ?? 0) <= phases);
    return begun.filter((read) => {
      const { own } = byKey.get(warmKey(read)) as Requested;
      return Array.from({ length: own }, call).every(Boolean);
    });
  };
  const nextBlock = (requested: readonly Requested[], afterMs: number): ReadonlySet<Requested> => {
    clock.now += afterMs;
    const batches = schedule.plan(
      requested.map(({ read }) => read),
      () => true,
    );
    const read = new Set<Requested>();
    for (const batch of batches) {
      const made = new Set(makeCalls(batch));
      schedule.settle(batch, (each) => made.has(each));
      for (const each of made) read.add(byKey.get(warmKey(each)) as Requested);
    }
    return read;
  };
  return { nextBlock, calls, schedule, clock };
}

const requested = fc
  .record({
    byKey: fc.boolean(),
    isFunded: fc.boolean(),
    shared: fc.integer({ min: 1, max: 5 }),
    own: fc.constantFrom(0, 0, 0, 2, 4),
  })
  .map(requestedOf);
const pools = fc.array(requested, { minLength: 1, maxLength: 40 });
const budgets = fc.integer({ min: 120, max: 2_000 });

test('property: no minute has more calls than the budget, whatever is requested when', () => {
  const block = fc.record({ afterMs: fc.integer({ min: 0, max: 15_000 }), from: fc.nat(19), count: fc.nat(20) });
  const blocks = fc.array(block, { minLength: 20, maxLength: 150 });
  fc.assert(
    fc.property(pools, budgets, blocks, (all, budget, list) => {
      const { nextBlock, calls } = start(all, budget);
      for (const { afterMs, from, count } of list) nextBlock(all.slice(from, from + count), afterMs);
      for (const { at: end } of calls) {
        expect(calls.filter(({ at }) => at > end - 60_000 && at <= end).length).toBeLessThanOrEqual(budget);
      }
    }),
    { numRuns: runs(12) },
  );
});

test('property: no requested pool starves, whatever the others take', () => {
  fc.assert(
    fc.property(pools, budgets, fc.constantFrom(2_000, 12_000), (all, budget, afterMs) => {
      const { nextBlock } = start(all, budget);
      const reads = new Map(all.map((each) => [each, 0]));
      // A class that has a tenth alone: 0.075 of the budget come back evenly, and 9 calls at most are for each read.
      const turnMs = (all.length * 9 * 60_000) / (budget * 0.1 - Math.max(budget * 0.025, 10)) + 120_000;
      const lastRead = new Map(all.map((each) => [each, 0]));
      for (let now = 0; now < 4 * turnMs; now += afterMs) {
        for (const each of nextBlock(all, afterMs)) {
          lastRead.set(each, now);
          reads.set(each, (reads.get(each) ?? 0) + 1);
        }
        expect(now - Math.min(...lastRead.values())).toBeLessThan(2 * turnMs);
      }
      expect(Math.min(...reads.values())).toBeGreaterThanOrEqual(2);
    }),
    { numRuns: runs(4) },
  );
});

test('property: keyed pools that need no more than their part are read at every block, whatever others request', () => {
  const others = fc.array(requested, { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(others, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 4 }), (all, shared, own) => {
      const keyed = [requestedOf({ byKey: true, shared, own }), requestedOf({ byKey: true, shared, own: 0 })];
      const anonymous = all.map((each) => ({ ...each, read: { ...each.read, byKey: false } }));
      // Three quarters of 80% come back evenly: 0.6 of the budget at 60 blocks a minute.
      const { nextBlock } = start([...anonymous, ...keyed], Math.max(120, Math.ceil(((shared + own) * 60) / 0.6)));
      for (let block = 0; block < 200; block++) {
        const read = nextBlock([...anonymous, ...keyed], 1_000);
        expect(keyed.map((each) => read.has(each))).toEqual([true, true]);
      }
    }),
    { numRuns: runs(12) },
  );
});

test('each class but the first has a tenth of the calls while the first takes all that it can', () => {
  const keyed = Array.from({ length: 300 }, () => requestedOf({ byKey: true, own: 2 }));
  const [funded, remaining] = [true, false].map((isFunded) =>
    Array.from({ length: 50 }, () => requestedOf({ isFunded, own: 2 })),
  ) as [Requested[], Requested[]];
  const all = [...keyed, ...funded, ...remaining];
  const { nextBlock, calls } = start(all, 720);
  for (let block = 0; block < 600; block++) nextBlock(all, 1_000);
  for (const kind of READ_CLASSES.slice(1)) {
    expect(calls.filter((call) => call.kind === kind).length / 10).toBeGreaterThan(720 * 0.075 - 5);
  }
  expect(calls.filter((call) => call.kind === 'keyed').length / 10).toBeGreaterThan(720 * 0.8 * 0.75 - 10);
});

test('32 pools with depth, costly ones among them, are read at every second by the defaults', () => {
  for (const byKey of [true, false]) {
    const all = Array.from({ length: 32 }, (_, index) =>
      requestedOf({ byKey, shared: index === 0 ? 5 : 4, own: index === 1 ? 2 : 0 }),
    );
    const { nextBlock } = start(all, WarmBudgetConfig.parse({}).callsPerMinute);
    const sizes = Array.from({ length: 600 }, () => nextBlock(all, 1_000).size);
    expect([byKey, new Set(sizes)]).toEqual([byKey, new Set([32])]);
  }
});

test('a pool that waits is not overtaken by pools that come all the while', () => {
  const waiting = requestedOf({ isFunded: false });
  const newcomers = Array.from({ length: 2_000 }, () => requestedOf({ isFunded: false, own: 2 }));
  const { nextBlock } = start([waiting, ...newcomers], 144);
  let reads = 0;
  for (let block = 0; block < 200; block++) {
    const read = nextBlock([...newcomers.slice(10 * block, 10 * block + 10), waiting], 1_000);
    if (read.has(waiting)) reads += 1;
  }
  expect(reads).toBeGreaterThan(5);
});

test('a read that takes more than can ever be saved does not keep the others from their turns', () => {
  const impossible = requestedOf({ isFunded: false, own: 100 });
  const others = Array.from({ length: 5 }, () => requestedOf({ isFunded: false }));
  const { nextBlock } = start([impossible, ...others], 120);
  const read = new Set<Requested>();
  for (let block = 0; block < 2_000; block++) {
    const made = nextBlock([impossible, ...others], 1_000);
    if (block > 1_000) for (const each of made) read.add(each);
  }
  expect(others.every((each) => read.has(each))).toBe(true);
});
