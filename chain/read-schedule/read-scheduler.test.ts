import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { READ_CLASSES, type ReadClass } from './call-budget.ts';
import { MAX_READ_GAS, ReadScheduler, type ScheduledRead } from './read-scheduler.ts';

const POOLS = 12;
const BURNING = MAX_READ_GAS + 1;

type Read = ScheduledRead<string>;

const readOf = (key: string, kind: ReadClass): Read => ({ key, kind, item: key });

/** What is known of a read, with nothing put in order. */
interface Known {
  read: Read;
  readAt: number;
  triedAt: number | null;
  failures: number;
  dueAt: number;
  isBurning: boolean;
}

/** All reads in one list, which every question goes through. */
class PlainScheduler {
  readonly known = new Map<string, Known>();
  now = 0;

  set(reads: readonly Read[]): void {
    for (const key of this.known.keys()) if (!reads.some((read) => read.key === key)) this.known.delete(key);
    for (const read of reads) {
      const isNew = { readAt: this.now, triedAt: null, failures: 0, dueAt: this.now, isBurning: false };
      this.known.set(read.key, { ...isNew, ...this.known.get(read.key), read });
    }
  }

  record(key: string, gas: number, isFailed: boolean): void {
    const one = this.known.get(key);
    if (!one) return;
    const isBurning = gas > MAX_READ_GAS;
    const backsOff = isBurning || (isFailed && one.read.kind === 'remaining');
    const failures = backsOff ? one.failures + 1 : 0;
    const pauseSecs = backsOff ? Math.min(10 * 2 ** (failures - 1), isBurning ? 900 : 40) : 0;
    const at = { readAt: this.now, triedAt: this.now, dueAt: this.now + pauseSecs * 1_000 };
    this.known.set(key, { ...one, ...at, failures, isBurning });
  }

  of(kind: ReadClass): Known[] {
    return [...this.known.values()].filter((one) => kind === (one.isBurning ? 'remaining' : one.read.kind));
  }

  due(kind: ReadClass, since: number): Known[] {
    return this.of(kind).filter(({ dueAt, triedAt }) => dueAt <= this.now && (triedAt === null || triedAt < since));
  }

  backlog(kind: ReadClass, since: number) {
    const calm = this.of(kind).filter(({ failures }) => failures === 0);
    return {
      reads: this.of(kind).length,
      overdue: this.due(kind, since).length,
      backoff: this.of(kind).length - calm.length,
      oldestAgeMs: calm.length > 0 ? Math.max(...calm.map(({ readAt }) => this.now - readAt)) : null,
    };
  }

  lastTurn(key: string): number {
    const one = this.known.get(key);
    return one?.triedAt ?? one?.readAt ?? Number.NaN;
  }
}

const pool = fc.nat(POOLS - 1).map(String);
const step = fc.oneof(
  fc.record({ does: fc.constant('set' as const), kinds: fc.dictionary(pool, fc.constantFrom(...READ_CLASSES)) }),
  fc.record({
    does: fc.constant('record' as const),
    pool,
    gas: fc.constantFrom(1, BURNING),
    isFailed: fc.boolean(),
  }),
  fc.record({ does: fc.constant('postpone' as const), pool }),
  fc.record({ does: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 30_000 }) }),
);

test('property: whose turn it is and how many wait is as if all reads were looked at, in the order of their last turns', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const plain = new PlainScheduler();
      const scheduler = new ReadScheduler<string>(() => plain.now);
      const all = Array.from({ length: POOLS }, (_, n) => readOf(String(n), READ_CLASSES[n % 3] ?? 'remaining'));
      for (const each of [plain, scheduler]) each.set(all);
      for (const each of steps) {
        if (each.does === 'set') {
          const reads = Object.entries(each.kinds).map(([key, kind]) => readOf(key, kind));
          plain.set(reads);
          scheduler.set(reads);
        } else if (each.does === 'record') {
          plain.record(each.pool, each.gas, each.isFailed);
          scheduler.record(each.pool, each);
        } else if (each.does === 'postpone') {
          const one = plain.known.get(each.pool);
          if (one) one.triedAt = plain.now;
          scheduler.postpone(each.pool);
        } else plain.now += each.ms;
        for (const kind of READ_CLASSES) {
          const due = scheduler.due(kind, plain.now);
          expect(new Set(due)).toEqual(new Set(plain.due(kind, plain.now).map(({ read }) => read.item)));
          expect(scheduler.backlog(kind, plain.now)).toEqual(plain.backlog(kind, plain.now));
          const order = due.map((key) => plain.lastTurn(key));
          expect(order).toEqual(order.toSorted((a, b) => a - b));
          expect(scheduler.due(kind, plain.now, 2)).toEqual(due.slice(0, 2));
        }
      }
    }),
    { numRuns: runs(80) },
  );
});

test('a read that fails backs off for longer each time, up to a bound, and success ends that', () => {
  let now = 0;
  const scheduler = new ReadScheduler<string>(() => now);
  scheduler.set([readOf('a', 'remaining')]);
  const pauses = (outcome: { gas: number; isFailed: boolean }, times: number) =>
    Array.from({ length: times }, () => {
      scheduler.record('a', outcome);
      const begun = now;
      while (scheduler.due('remaining', now).length === 0) now += 1_000;
      return (now - begun) / 1_000;
    });
  expect(pauses({ gas: 1, isFailed: true }, 5)).toEqual([10, 20, 40, 40, 40]);
  expect(pauses({ gas: 1, isFailed: false }, 2)).toEqual([1, 1]);
  expect(pauses({ gas: BURNING, isFailed: false }, 9)).toEqual([10, 20, 40, 80, 160, 320, 640, 900, 900]);
  scheduler.set([readOf('a', 'funded')]);
  scheduler.record('a', { gas: 1, isFailed: true });
  now += 1;
  expect(scheduler.due('funded', now)).toEqual(['a']);
  scheduler.record('a', { gas: BURNING, isFailed: false });
  expect(READ_CLASSES.flatMap((kind) => scheduler.due(kind, now + 1))).toEqual([]);
  expect(scheduler.backlog('remaining', now)).toMatchObject({ reads: 1, backoff: 1 });
});
