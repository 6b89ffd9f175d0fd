import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idle, nextSchedule, PART_MS, type PartEvent, type ScheduleState, SILENT_MS } from './part-schedule.ts';

/** Several processes that share what their calls show: those with lower numbers come first. */

const END_MS = 12_000;
/** By then all heard of each other. */
const SETTLED_MS = 200;

interface Delays {
  /** Until a process hears of a push. */
  readonly pushMs: number;
  readonly callMs: number;
  /** Until the others hear what a call showed. */
  readonly busMs: number;
}

interface Run {
  readonly processes: number;
  /** When the node pushes. */
  readonly pushes: readonly number[];
  /** Taken in turn. */
  readonly delays: readonly Delays[];
  /** When the first process ends. */
  readonly diesAt?: number;
}

interface Call {
  readonly by: number;
  readonly at: number;
}

interface Due {
  readonly at: number;
  readonly to: number;
  readonly event: PartEvent;
}

/** @returns the calls, in order */
function callsOf({ processes, pushes, delays, diesAt = Number.POSITIVE_INFINITY }: Run): readonly Call[] {
  const ids = Array.from({ length: processes }, (_, id) => id);
  const states: ScheduleState[] = ids.map(() => idle);
  const wakes: number[] = ids.map(() => Number.POSITIVE_INFINITY);
  const calls: Call[] = [];
  let taken = 0;
  const delay = (): Delays => delays[taken++ % delays.length] as Delays;
  const queue: Due[] = ids.flatMap((to) => [
    { at: 0, to, event: { kind: 'wanted' } },
    ...pushes.map((at): Due => ({ at: at + delay().pushMs, to, event: { kind: 'pushed' } })),
  ]);
  const isAlive = (id: number, at: number) => id > 0 || at < diesAt;
  for (;;) {
    const wake = Math.min(...wakes);
    queue.sort((one, other) => one.at - other.at);
    const next = queue[0] && queue[0].at <= wake ? queue.shift() : undefined;
    const { at, to, event } = next ?? { at: wake, to: wakes.indexOf(wake), event: { kind: 'time' } as const };
    if (at > END_MS) return calls;
    wakes[to] = Number.POSITIVE_INFINITY;
    if (!isAlive(to, at)) continue;
    const [state, { read, wakeAt }] = nextSchedule(states[to] ?? idle, event, at, true);
    states[to] = state;
    wakes[to] = wakeAt ?? Number.POSITIVE_INFINITY;
    if (!read) continue;
    calls.push({ by: to, at });
    const { callMs, busMs } = delay();
    queue.push({ at: at + callMs, to, event: { kind: 'ended' } });
    if (!isAlive(to, at + callMs)) continue;
    for (const other of ids.filter((id) => id !== to)) {
      queue.push({ at: at + callMs + busMs, to: other, event: { kind: 'heard', comesFirst: to < other } });
    }
  }
}

/** Calls and messages take as long as before, but for this. */
const JITTER_MS = 30;

const pushesAfter = (minGap: number) =>
  fc
    .array(fc.oneof(fc.constant(PART_MS), fc.integer({ min: minGap, max: 1_500 })), { maxLength: 40 })
    .map((gaps) => gaps.map((_, index) => gaps.slice(0, index + 1).reduce((sum, gap) => sum + gap, 0)));
const delaysFrom = (least: Delays, range: Delays) => {
  const within = (of: keyof Delays) => fc.integer({ min: least[of], max: least[of] + range[of] });
  const one = fc.record({ pushMs: within('pushMs'), callMs: within('callMs'), busMs: within('busMs') });
  return fc.array(one, { minLength: 1, maxLength: 20 });
};
const processes = fc.integer({ min: 2, max: 5 });
const [least, most] = [
  { pushMs: 0, callMs: 1, busMs: 0 },
  { pushMs: 49, callMs: 60, busMs: 39 },
];

/** Parts as often as they come, and up to some that stay for long. */
const anyRun = fc.record({ processes, pushes: pushesAfter(1), delays: delaysFrom(least, most) });
/** Pushes after the calls of those before. */
const steadyRun = fc.integer({ min: 1, max: 80 }).chain((callMs) =>
  fc.record({
    processes,
    pushes: pushesAfter(callMs + 2 * JITTER_MS),
    delays: delaysFrom(
      { pushMs: 0, callMs, busMs: 0 },
      { pushMs: JITTER_MS / 3, callMs: JITTER_MS / 3, busMs: JITTER_MS / 3 },
    ),
  }),
);

test('property: one of several processes makes all calls, however often parts come', () => {
  fc.assert(
    fc.property(steadyRun, (run) => {
      const settled = callsOf(run).filter(({ at }) => at > SETTLED_MS);
      expect(settled.filter(({ by }) => by !== 0)).toEqual([]);
      // One for each push, and one for each part of time without.
      expect(settled.length).toBeLessThanOrEqual(run.pushes.length + END_MS / PART_MS);
    }),
  );
});

test('property: when it is gone another one does, after what is left to it for a while', () => {
  fc.assert(
    fc.property(steadyRun, fc.integer({ min: 1_000, max: 6_000 }), (run, diesAt) => {
      const after = callsOf({ ...run, diesAt }).filter(({ at }) => at > diesAt);
      const [first] = after;
      expect(first?.at).toBeLessThan(diesAt + SILENT_MS + 2 * PART_MS);
      const settled = after.filter(({ at }) => at > (first?.at ?? 0) + SETTLED_MS);
      expect(new Set(settled.map(({ by }) => by))).toEqual(new Set([1]));
    }),
  );
});

test('property: where parts come each 200 ms, another one quotes the second part since then while it is the newest', () => {
  const pushes = Array.from({ length: 40 }, (_, index) => (index + 1) * PART_MS);
  const diesAfter = fc.integer({ min: 2_000, max: 4_000 });
  fc.assert(
    fc.property(anyRun, diesAfter, ({ processes, delays }, diesAt) => {
      const first = callsOf({ processes, delays, pushes, diesAt }).find(({ at }) => at > diesAt);
      expect(first?.at).toBeLessThan(diesAt + 2 * PART_MS);
    }),
  );
});
