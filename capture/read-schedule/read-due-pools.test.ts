import fc from 'fast-check';
import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import { type ReadOutcome, ReadScheduler } from '../../chain/read-schedule/read-scheduler.ts';
import { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import { type BoundedCall, CALL_GAS_CAP } from '../../protocol/bounded-calls/bounded-calls.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { CAPTURE_CLASSES, type CaptureClass, scheduledPools } from './pool-values.ts';
import { readDuePools } from './read-due-pools.ts';

/** A pool of the market, and what reading it takes. */
interface MarketPool {
  readonly address: Address;
  readonly isFunded: boolean;
  readonly gas: number;
  readonly isFailing: boolean;
}

const RUN_MS = 5_000;
const GAS_LIMIT = 3_000_000;
const DEFAULTS = ReadBudgetConfig.parse({});

let made = 0;
const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
const poolOf = (pool: Partial<MarketPool>): MarketPool => ({
  address: addressOf(made++),
  isFunded: false,
  gas: 150_000,
  isFailing: false,
  ...pool,
});

/** A node of 50 million gas a call. */
function market(pools: readonly MarketPool[], callsPerMinute = 80) {
  const clock = { now: 0 };
  const now = () => clock.now;
  const byAddress = new Map(pools.map((pool) => [pool.address, pool]));
  const scheduler = new ReadScheduler<MarketPool>(now);
  const budget = new CallBudget(callsPerMinute, CAPTURE_CLASSES, now);
  scheduler.set(scheduledPools(pools));
  const calls: { readonly at: number; readonly pools: MarketPool[] }[] = [];
  const reads: { readonly at: number; readonly pool: MarketPool }[] = [];
  const open = { now: 0, most: 0 };
  const send = async (batch: readonly BoundedCall[]) => {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    await null;
    open.now -= 1;
    let left = Number(CALL_GAS_CAP);
    const results = batch.map(({ target, gasLimit }) => {
      if (left < gasLimit * (25 / 24)) return null;
      const gasUsed = Math.min(byAddress.get(target)?.gas ?? 0, gasLimit);
      left -= gasUsed;
      return { success: true, data: '0x' as const, gasUsed };
    });
    calls.push({ at: clock.now, pools: batch.map(({ target }) => byAddress.get(target) as MarketPool) });
    return { chainId: 1n, blockNumber: 1n, blockTimestamp: 1n, results };
  };
  const deps = {
    scheduler,
    budget,
    now,
    send,
    callsOf: ({ address }: MarketPool) => [
      { target: address, data: '0x' as const, likelyGas: 250_000, gasLimit: GAS_LIMIT, keptBytes: 64 },
    ],
    store: async (read: readonly { readonly pool: MarketPool }[]): Promise<(ReadOutcome | null)[]> => {
      reads.push(...read.map(({ pool }) => ({ at: clock.now, pool })));
      return read.map(({ pool: { isFailing } }) => ({ gas: 0, isFailed: isFailing }));
    },
  };
  const read = (kind: CaptureClass) => readDuePools(kind, deps);
  const run = async (runs: number) => {
    for (let count = 0; count < runs; count++) {
      for (const kind of CAPTURE_CLASSES) await read(kind);
      clock.now += RUN_MS;
    }
  };
  return { run, read, deps, scheduler, calls, reads, clock, open };
}

const gas = fc.oneof(fc.integer({ min: 50_000, max: 400_000 }), fc.constant(GAS_LIMIT));
const remainingPool = fc.record({ gas, isFailing: fc.boolean() }).map(poolOf);
const fundedPool = fc
  .record({ isFunded: fc.constant(true), gas: fc.integer({ min: 50_000, max: 400_000 }) })
  .map(poolOf);
const remaining = fc.array(remainingPool, { minLength: 1, maxLength: 400 });
const funded = fc.array(fundedPool, { minLength: 1, maxLength: 100 });

test('property: no minute has more calls than the budget, whatever the pools do', async () => {
  await fc.assert(
    fc.asyncProperty(remaining, fc.array(remainingPool, { maxLength: 200 }), async (poor, rich) => {
      const { run, calls } = market([...poor, ...rich.map((pool) => ({ ...pool, isFunded: true }))], 20);
      await run(40);
      for (const { at: end } of calls) {
        expect(calls.filter(({ at }) => at > end - 60_000 && at <= end).length).toBeLessThanOrEqual(20);
      }
    }),
    { numRuns: runs(5) },
  );
});

test('two calls at most are sent at a time', async () => {
  const { read, open } = market(Array.from({ length: 1_500 }, () => poolOf({ isFunded: true })));
  expect(await read('funded')).toBeGreaterThan(0);
  expect(open.most).toBe(2);
});

test('property: other pools change nothing of when funded pools are read, which is in every run', async () => {
  await fc.assert(
    fc.asyncProperty(funded, remaining, async (rich, poor) => {
      const [alone, among] = [market(rich), market([...poor, ...rich])];
      await alone.run(20);
      await among.run(20);
      expect(among.reads.filter(({ pool }) => pool.isFunded)).toEqual(alone.reads);
      expect(alone.reads).toHaveLength(20 * rich.length);
      const mixed = among.calls.filter(({ pools }) => new Set(pools.map(({ isFunded }) => isFunded)).size > 1);
      expect(mixed).toEqual([]);
    }),
    { numRuns: runs(5) },
  );
});

test('property: each remaining pool is read again and again, in turn, unless it backs off', async () => {
  await fc.assert(
    fc.asyncProperty(remaining, async (poor) => {
      const { run, reads } = market(poor);
      await run(240);
      const counts = poor.map((pool) => reads.filter((read) => read.pool === pool).length);
      expect(Math.min(...counts)).toBeGreaterThan(0);
      const calm = counts.filter((_, n) => poor[n]?.isFailing === false && poor[n].gas < GAS_LIMIT);
      expect(Math.max(0, ...calm) - Math.min(...calm, Number.MAX_SAFE_INTEGER)).toBeLessThanOrEqual(1);
    }),
    { numRuns: runs(3) },
  );
});

test('a thousand funded pools are read within 10 s by the defaults, gas-burning ones among them or not', async () => {
  for (const burners of [0, 300]) {
    const rich = Array.from({ length: 1_000 }, () => poolOf({ isFunded: true }));
    const burning = Array.from({ length: burners }, () => poolOf({ isFunded: true, gas: GAS_LIMIT }));
    const poor = Array.from({ length: 2_000 }, () => poolOf({}));
    const { run, reads, calls, clock } = market([...burning, ...rich, ...poor], DEFAULTS.callsPerMinute);
    // Burners are found out by their first reads.
    await run(12);
    reads.splice(0);
    await run(60);
    const readAt = new Map<MarketPool, number>();
    let widest = 0;
    for (const { pool, at } of reads) {
      if (pool.isFunded && pool.gas < GAS_LIMIT) widest = Math.max(widest, at - (readAt.get(pool) ?? at));
      readAt.set(pool, at);
    }
    expect(widest).toBeLessThanOrEqual(10_000);
    expect(rich.filter((pool) => (readAt.get(pool) ?? 0) < clock.now - 10_000)).toEqual([]);
    expect(readAt.size).toBe(1_000 + burners + 2_000);
    expect(calls.length).toBeLessThanOrEqual(DEFAULTS.callsPerMinute * 6);
  }
}, 240_000);

test('funded burners in one call with honest pools leave them to the next call of the same run, and then are read apart', async () => {
  const honest = Array.from({ length: 40 }, () => poolOf({ isFunded: true }));
  const burners = Array.from({ length: 20 }, () => poolOf({ isFunded: true, gas: GAS_LIMIT }));
  const { run, reads, calls } = market([...burners, ...honest]);
  await run(1);
  expect(new Set(reads.map(({ pool }) => pool)).size).toBe(60);
  calls.splice(0);
  await run(12);
  const withBurners = calls.filter(({ pools }) => pools.some((pool) => pool.gas === GAS_LIMIT));
  expect(withBurners.length).toBeGreaterThan(0);
  expect(withBurners.flatMap(({ pools }) => pools).every((pool) => pool.gas === GAS_LIMIT)).toBe(true);
  const lastRun = reads.filter(({ at }) => at === 12 * RUN_MS);
  for (const pool of honest) expect(lastRun.map((read) => read.pool)).toContain(pool);
});

test('funded pools take turns when the budget has not calls for all, and those that wait are counted', async () => {
  const rich = Array.from({ length: 9_000 }, () => poolOf({ isFunded: true }));
  const { run, reads, read, scheduler, clock } = market(rich);
  await run(30);
  const begun = clock.now;
  const count = await read('funded');
  expect(count).toBeGreaterThan(50);
  expect(count).toBeLessThan(9_000);
  expect(scheduler.backlog('funded', begun)).toMatchObject({ reads: 9_000, overdue: 9_000 - count, backoff: 0 });
  const counts = new Map(rich.map((pool) => [pool, 0]));
  for (const { pool } of reads) counts.set(pool, (counts.get(pool) ?? 0) + 1);
  expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(1);
});

test('pools of a call that the node did not answer are read behind the others, and are not older or younger for it', async () => {
  const poor = Array.from({ length: 150 }, () => poolOf({}));
  const { scheduler, clock, read, deps } = market(poor, 20);
  const failing = {
    ...deps,
    callsOf: ({ address }: MarketPool) => [
      { target: address, data: '0x' as const, likelyGas: 1_000_000, gasLimit: GAS_LIMIT, keptBytes: 0 },
    ],
    send: () => Promise.reject(new Error('no node')),
    store: async () => [],
  };
  const [first] = poor;
  await expect(readDuePools('remaining', failing)).rejects.toThrow('no node');
  clock.now += RUN_MS;
  const queue = scheduler.due('remaining', clock.now);
  expect(queue).toHaveLength(150);
  expect(queue.indexOf(first as MarketPool)).toBeGreaterThan(50);
  expect(scheduler.backlog('remaining', clock.now)).toMatchObject({ oldestAgeMs: RUN_MS, backoff: 0, overdue: 150 });
  await read('remaining');
  expect(scheduler.backlog('remaining', clock.now).overdue).toBeLessThan(100);
});

test('a pool of which nothing was found out grows older, and has its turn in the next run', async () => {
  const pools = [poolOf({ isFunded: true }), poolOf({ isFunded: true })];
  const { scheduler, clock, deps, reads } = market(pools);
  const store: typeof deps.store = async (read) => {
    const outcomes = await deps.store(read);
    return read.map(({ pool }, index) => (pool === pools[0] ? null : (outcomes[index] ?? null)));
  };
  for (let run = 0; run < 3; run += 1) {
    await readDuePools('funded', { ...deps, store });
    clock.now += RUN_MS;
  }
  expect(reads.map(({ pool }) => pools.indexOf(pool)).sort()).toEqual([0, 0, 0, 1, 1, 1]);
  expect(scheduler.backlog('funded', clock.now)).toMatchObject({ oldestAgeMs: 3 * RUN_MS, overdue: 2 });
  await readDuePools('funded', deps);
  expect(scheduler.backlog('funded', clock.now).oldestAgeMs).toBe(0);
});
