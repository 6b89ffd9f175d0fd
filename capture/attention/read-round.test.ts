import fc from 'fast-check';
import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { READ_CLASSES, ReadBudget, type ReadClass } from '../../chain/read-budget/read-budget.ts';
import { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import type { BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import { PoolSchedule, type PoolWithWorth } from './pool-schedule.ts';
import { readRound } from './read-round.ts';

/** A pool of the market, and what reading it takes. */
interface MarketPool extends PoolWithWorth {
  readonly gas: number;
  readonly isFailing: boolean;
  readonly isWanted: boolean;
}

const ROUND_MS = 5_000;
const GAS_LIMIT = 3_000_000;
const rules = ReadBudgetConfig.parse({ callsPerMinute: 80, gasPerMinute: 1_000_000_000 });

let made = 0;
const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
const poolOf = (pool: Partial<MarketPool>): MarketPool => ({
  address: addressOf(made++),
  worthUsd: 0,
  isWanted: false,
  gas: 150_000,
  isFailing: false,
  ...pool,
});

/** A node of 50 million gas, and a clock that each call moves on. */
function market(pools: readonly MarketPool[], clock = { now: 0 }, callsAtOnce = 2) {
  const byAddress = new Map(pools.map((pool) => [pool.address, pool]));
  const schedule = new PoolSchedule<MarketPool>(rules, () => clock.now);
  const budget = new ReadBudget(rules, () => clock.now);
  schedule.setPools(pools);
  schedule.setWanted(new Set(pools.filter(({ isWanted }) => isWanted).map(({ address }) => address)));
  const calls: { readonly at: number; readonly kind: ReadClass; readonly gas: number; readonly pools: MarketPool[] }[] =
    [];
  const reads: { readonly at: number; readonly pool: MarketPool }[] = [];
  let [open, mostOpen] = [0, 0];
  const send = async (kind: ReadClass, asked: readonly BoundedCall[], gas: bigint) => {
    mostOpen = Math.max(mostOpen, ++open);
    await null;
    open -= 1;
    let left = Number(gas);
    const results = asked.map(({ target, gasLimit }) => {
      if (left < gasLimit * (25 / 24)) return null;
      const gasUsed = Math.min(byAddress.get(target)?.gas ?? 0, gasLimit);
      left -= gasUsed;
      return { success: true, data: '0x' as const, gasUsed };
    });
    const of = asked.map(({ target }) => byAddress.get(target) as MarketPool);
    calls.push({ at: clock.now, kind, gas: Number(gas) - left, pools: of });
    return { chainId: 1n, blockNumber: 1n, blockTimestamp: 1n, results };
  };
  const round = (kinds: readonly ReadClass[]) =>
    readRound(kinds, clock.now, {
      schedule,
      budget,
      callsAtOnce,
      send,
      callsOf: ({ address }) => [
        { target: address, data: '0x', likelyGas: 250_000, gasLimit: GAS_LIMIT, keptBytes: 64 },
      ],
      store: async (readings) => {
        reads.push(...readings.map(({ pool }) => ({ at: clock.now, pool })));
        return readings.map(({ pool: { isFailing } }) => ({ gas: 0, isFailed: isFailing }));
      },
    });
  const run = async (rounds: number) => {
    for (let count = 0; count < rounds; count++) {
      await round(['worth']);
      await round(['wanted', 'others']);
      clock.now += ROUND_MS;
    }
  };
  return { run, round, schedule, calls, reads, clock, mostOpen: () => mostOpen };
}

const gas = fc.oneof(fc.integer({ min: 50_000, max: 400_000 }), fc.constant(GAS_LIMIT));
const stranger = fc.record({ gas, isFailing: fc.boolean(), isWanted: fc.boolean() }).map(poolOf);
const honest = fc
  .record({ worthUsd: fc.integer({ min: 1, max: 10 ** 9 }), gas: fc.integer({ min: 50_000, max: 400_000 }) })
  .map(poolOf);
const strangers = fc.array(stranger, { minLength: 1, maxLength: 400 });
const honestPools = fc.array(honest, { minLength: 1, maxLength: 100 });

test('no minute costs more than the budget, whatever the pools do', async () => {
  await fc.assert(
    fc.asyncProperty(strangers, fc.array(stranger, { maxLength: 200 }), async (poor, rich) => {
      const { run, calls } = market([...poor, ...rich.map((pool) => ({ ...pool, worthUsd: 5 }))]);
      await run(40);
      for (const { at: end } of calls) {
        const inMinute = calls.filter(({ at }) => at > end - 60_000 && at <= end);
        expect(inMinute.length).toBeLessThanOrEqual(rules.callsPerMinute);
        expect(inMinute.reduce((sum, call) => sum + call.gas, 0)).toBeLessThanOrEqual(rules.gasPerMinute);
      }
    }),
    { numRuns: 20 },
  );
});

test.each([1, 2, 4])('%i calls at most are on their way to a node at a time', async (callsAtOnce) => {
  const pools = Array.from({ length: 1_500 }, () => poolOf({ worthUsd: 1 }));
  const { round, mostOpen } = market(pools, { now: 0 }, callsAtOnce);
  expect(await round(['worth'])).toBeGreaterThan(0);
  expect(mostOpen()).toBe(callsAtOnce);
});

test('strangers change nothing of when pools of worth are read, which is in every round', async () => {
  await fc.assert(
    fc.asyncProperty(honestPools, strangers, async (rich, poor) => {
      const [alone, among] = [market(rich), market([...poor, ...rich])];
      await alone.run(20);
      await among.run(20);
      const ofRich = among.reads.filter(({ pool }) => pool.worthUsd > 0);
      expect(ofRich).toEqual(alone.reads);
      expect(alone.reads).toHaveLength(20 * rich.length);
      const mixed = among.calls.filter(({ pools }) => new Set(pools.map(({ worthUsd }) => worthUsd > 0)).size > 1);
      expect(mixed).toEqual([]);
    }),
    { numRuns: 20 },
  );
});

test('each stranger is read again and again, in turn, unless it pauses', async () => {
  await fc.assert(
    fc.asyncProperty(strangers, async (poor) => {
      const { run, reads } = market(poor);
      await run(240);
      const counts = poor.map((pool) => reads.filter((read) => read.pool === pool).length);
      expect(Math.min(...counts)).toBeGreaterThan(0);
      for (const isWanted of [true, false]) {
        const calm = counts.filter((_, n) => {
          const pool = poor[n];
          return pool?.isWanted === isWanted && !pool.isFailing && pool.gas < GAS_LIMIT;
        });
        expect(Math.max(0, ...calm) - Math.min(...calm, Number.MAX_SAFE_INTEGER)).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 10 },
  );
});

test('burners of worth in one call with honest pools leave them to the next call of the same round, and then pay alone', async () => {
  const honest = Array.from({ length: 40 }, (_, n) => poolOf({ worthUsd: 100 - n }));
  const burners = Array.from({ length: 20 }, () => poolOf({ worthUsd: 200, gas: GAS_LIMIT }));
  const { run, reads, calls } = market([...honest, ...burners]);
  await run(1);
  expect(new Set(reads.map(({ pool }) => pool)).size).toBe(60);
  calls.splice(0);
  await run(12);
  const withBurners = calls.filter(({ pools }) => pools.some((pool) => pool.gas === GAS_LIMIT));
  expect(new Set(withBurners.map(({ kind }) => kind))).toEqual(new Set(['others']));
  expect(withBurners.flatMap(({ pools }) => pools).every((pool) => pool.gas === GAS_LIMIT)).toBe(true);
  const lastRound = reads.filter(({ at }) => at === 12 * ROUND_MS);
  for (const pool of honest) expect(lastRound.map((read) => read.pool)).toContain(pool);
});

test('the richest are read when the budget does not do for all of worth, and those that wait are counted', async () => {
  const rich = Array.from({ length: 3_000 }, (_, n) => poolOf({ worthUsd: 10_000 - n }));
  const { run, reads, round, schedule, clock } = market(rich);
  await run(30);
  const begun = clock.now;
  await round(['worth']);
  const last = reads.filter(({ at }) => at === begun).map(({ pool }) => pool);
  expect(last.length).toBeGreaterThan(50);
  expect(last).toEqual(rich.slice(0, last.length));
  expect(schedule.backlog('worth', begun)).toMatchObject({ pools: 3_000, waiting: 3_000 - last.length, backingOff: 0 });
});

test('a pool that fails pauses for longer each time, up to a bound, and success ends that', () => {
  const clock = { now: 0 };
  const schedule = new PoolSchedule<MarketPool>(rules, () => clock.now);
  const pool = poolOf({});
  schedule.setPools([pool]);
  const pauses = (outcome: { gas: number; isFailed: boolean }, times: number) =>
    Array.from({ length: times }, () => {
      schedule.record(pool, outcome);
      const begun = clock.now;
      while (schedule.due('others', clock.now, 1).length === 0) clock.now += 1_000;
      return (clock.now - begun) / 1_000;
    });
  expect(pauses({ gas: 1, isFailed: true }, 5)).toEqual([10, 20, 40, 40, 40]);
  expect(pauses({ gas: 1, isFailed: false }, 2)).toEqual([1, 1]);
  expect(pauses({ gas: GAS_LIMIT, isFailed: false }, 9)).toEqual([10, 20, 40, 80, 160, 320, 640, 900, 900]);
  const rich = { ...pool, worthUsd: 5 };
  schedule.setPools([rich]);
  schedule.record(rich, { gas: 1, isFailed: true });
  clock.now += 1;
  expect(schedule.due('worth', clock.now, 1)).toEqual([rich]);
  schedule.record(rich, { gas: GAS_LIMIT, isFailed: false });
  expect(READ_CLASSES.flatMap((kind) => schedule.due(kind, clock.now + 1, 1))).toEqual([]);
  expect(schedule.backlog('others', clock.now)).toMatchObject({ pools: 1, backingOff: 1 });
});

test('pools of a call that the node did not answer are asked behind the others, and are not older or younger for it', async () => {
  const poor = Array.from({ length: 150 }, () => poolOf({}));
  const { schedule, clock, round } = market(poor);
  const deps = {
    schedule,
    budget: new ReadBudget(rules, () => clock.now),
    callsAtOnce: 2,
    callsOf: ({ address }: MarketPool) => [
      { target: address, data: '0x' as const, likelyGas: 1_000_000, gasLimit: GAS_LIMIT, keptBytes: 0 },
    ],
    send: () => Promise.reject(new Error('no node')),
    store: async () => [],
  };
  const [first] = poor;
  await expect(readRound(['worth', 'others'], clock.now, deps)).rejects.toThrow('no node');
  clock.now += ROUND_MS;
  const queue = schedule.due('others', clock.now, 150);
  expect(queue).toHaveLength(150);
  expect(queue.indexOf(first as MarketPool)).toBeGreaterThan(50);
  expect(schedule.backlog('others', clock.now)).toMatchObject({ ageMs: ROUND_MS, backingOff: 0, waiting: 150 });
  await round(['others']);
  expect(schedule.backlog('others', clock.now).waiting).toBeLessThan(100);
});
