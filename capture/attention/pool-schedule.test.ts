import fc from 'fast-check';
import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { READ_CLASSES, type ReadClass } from '../../chain/read-budget/read-budget.ts';
import { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import { PoolSchedule, type PoolWithWorth } from './pool-schedule.ts';

const rules = ReadBudgetConfig.parse({});
const POOLS = 12;
const BURNING = rules.burnGas + 1;
const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
const poolOf = (n: number, worthUsd: number): PoolWithWorth => ({ address: addressOf(n), worthUsd });

/** What is known of a pool, with nothing put in order. */
interface Known {
  pool: PoolWithWorth;
  readAt: number;
  triedAt: number | null;
  failures: number;
  pausedUntil: number;
  isBurning: boolean;
}

/** All pools in one list, which every question goes through. */
class PlainSchedule {
  readonly known = new Map<Address, Known>();
  wanted: ReadonlySet<Address> = new Set();
  now = 0;

  setPools(pools: readonly PoolWithWorth[]): void {
    for (const address of this.known.keys()) {
      if (!pools.some((pool) => pool.address === address)) this.known.delete(address);
    }
    for (const pool of pools) {
      const isNew = { readAt: this.now, triedAt: null, failures: 0, pausedUntil: this.now, isBurning: false };
      this.known.set(pool.address, { ...isNew, ...this.known.get(pool.address), pool });
    }
  }

  record(address: Address, gas: number, isFailed: boolean): void {
    const one = this.known.get(address);
    if (!one) return;
    const isBurning = gas > rules.burnGas;
    const isPaused = isBurning || (isFailed && one.pool.worthUsd < rules.minWorthUsd);
    const failures = isPaused ? one.failures + 1 : 0;
    const longest = isBurning ? rules.burnedPauseSecs : rules.failedPauseSecs;
    const pauseSecs = isPaused ? Math.min(rules.firstPauseSecs * 2 ** (failures - 1), longest) : 0;
    const at = { readAt: this.now, triedAt: this.now, pausedUntil: this.now + pauseSecs * 1_000 };
    this.known.set(address, { ...one, ...at, failures, isBurning });
  }

  of(kind: ReadClass): Known[] {
    return [...this.known.values()].filter(({ pool, isBurning }) => {
      if (pool.worthUsd >= rules.minWorthUsd && !isBurning) return kind === 'worth';
      return kind === (this.wanted.has(pool.address) && !isBurning ? 'wanted' : 'others');
    });
  }

  due(kind: ReadClass, since: number): Known[] {
    return this.of(kind).filter(
      ({ pausedUntil, triedAt }) => pausedUntil <= this.now && (triedAt === null || triedAt < since),
    );
  }

  backlog(kind: ReadClass, since: number) {
    const calm = this.of(kind).filter(({ failures }) => failures === 0);
    return {
      pools: this.of(kind).length,
      waiting: this.due(kind, since).length,
      backingOff: this.of(kind).length - calm.length,
      ageMs: calm.length > 0 ? Math.max(...calm.map(({ readAt }) => this.now - readAt)) : null,
    };
  }

  lastTurn(address: Address): number {
    const one = this.known.get(address);
    return one?.triedAt ?? one?.readAt ?? Number.NaN;
  }
}

const pool = fc.nat(POOLS - 1);
const worth = fc.constantFrom(0, rules.minWorthUsd / 2, rules.minWorthUsd, 5_000);
const gas = fc.constantFrom(1, BURNING);
const step = fc.oneof(
  fc.record({ kind: fc.constant('pools' as const), worths: fc.dictionary(pool.map(String), worth) }),
  fc.record({ kind: fc.constant('wanted' as const), pools: fc.uniqueArray(pool) }),
  fc.record({ kind: fc.constant('record' as const), pool, gas, isFailed: fc.boolean() }),
  fc.record({ kind: fc.constant('postpone' as const), pool }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 30_000 }) }),
);

test('whose turn it is and how many wait is as if all pools were looked at', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const plain = new PlainSchedule();
      const schedule = new PoolSchedule<PoolWithWorth>(rules, () => plain.now);
      const all = Array.from({ length: POOLS }, (_, n) => poolOf(n, n % 3 === 0 ? rules.minWorthUsd : 0));
      for (const each of [plain, schedule]) each.setPools(all);
      for (const each of steps) {
        if (each.kind === 'pools') {
          const pools = Object.entries(each.worths).map(([n, usd]) => poolOf(Number(n), usd));
          plain.setPools(pools);
          schedule.setPools(pools);
        } else if (each.kind === 'wanted') {
          plain.wanted = new Set(each.pools.map(addressOf));
          schedule.setWanted(plain.wanted);
        } else if (each.kind === 'record') {
          plain.record(addressOf(each.pool), each.gas, each.isFailed);
          schedule.record(poolOf(each.pool, 0), each);
        } else if (each.kind === 'postpone') {
          const one = plain.known.get(addressOf(each.pool));
          if (one) one.triedAt = plain.now;
          schedule.postpone(poolOf(each.pool, 0));
        } else plain.now += each.ms;
        for (const kind of READ_CLASSES) {
          const due = schedule.due(kind, plain.now, POOLS);
          expect(new Set(due)).toEqual(new Set(plain.due(kind, plain.now).map((known) => known.pool)));
          expect(schedule.backlog(kind, plain.now)).toEqual(plain.backlog(kind, plain.now));
          const order = due.map(({ address, worthUsd }) => (kind === 'worth' ? -worthUsd : plain.lastTurn(address)));
          if (kind !== 'others') expect(order).toEqual(order.toSorted((a, b) => a - b));
          expect(schedule.due(kind, plain.now, 2)).toEqual(due.slice(0, 2));
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('a pool that is wanted no more has its turn behind the others, and one that is wanted anew before those that had theirs', () => {
  const clock = { now: 0 };
  const schedule = new PoolSchedule<PoolWithWorth>(rules, () => clock.now);
  const pools = Array.from({ length: 4 }, (_, n) => poolOf(n, 0));
  const [first, second, third, fourth] = pools as [PoolWithWorth, PoolWithWorth, PoolWithWorth, PoolWithWorth];
  schedule.setPools(pools);
  schedule.setWanted(new Set([first.address, second.address]));
  clock.now += 1;
  for (const read of [first, second]) schedule.record(read, { gas: 1, isFailed: false });
  schedule.setWanted(new Set([second.address, fourth.address]));
  clock.now += 1;
  expect(schedule.due('wanted', clock.now, POOLS)).toEqual([fourth, second]);
  expect(schedule.due('others', clock.now, POOLS)).toEqual([third, first]);
});
