import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertEqual } from '../../test/harness/assert-equal.ts';
import {
  ALONE_AFTER_MS,
  LEASE_MS,
  NEW_SHARED_FEED,
  nextSharedFeed,
  PUBLISH_MS,
  RENEW_MS,
  type Reader,
  type SharedFeedEvent,
  type SharedFeedState,
} from './feed-schedule.ts';

/*
 * Processes that share the sources of a chain: messages are lost, come late or twice; Redis answers only some of them.
 */

const PROCESSES = 3;
const STEP_MS = 10;
/** Longest way of a message. */
const MAX_DELAY_MS = 60;

interface Process {
  state: SharedFeedState;
  /** What it knows to hold, as a reader from its sources, else from others. */
  digest: string | null;
  tickAt: number;
  /** Whether Redis answers it. */
  isConnected: boolean;
  /** Until when it stands still. */
  pausedUntil: number;
  /** When Redis last answered it, and what. */
  answer: { readonly at: number; readonly reader: Reader };
  readonly publishedAt: number[];
}

interface Message {
  readonly to: Process;
  readonly digest: string | null;
  readonly at: number;
}

function startWorld() {
  let now = 0;
  const lease = { holder: undefined as Process | undefined, until: 0 };
  let messages: Message[] = [];
  const world = { now: () => now, digest: null as string | null, loses: 0, doubles: 0, delayMs: 0 };
  const processes = Array.from({ length: PROCESSES }, (_, index): Process => {
    const answer = { at: Number.NEGATIVE_INFINITY, reader: 'unknown' as const };
    return {
      state: NEW_SHARED_FEED,
      digest: null,
      tickAt: index,
      isConnected: true,
      pausedUntil: 0,
      answer,
      publishedAt: [],
    };
  });
  const next = (process: Process, event: SharedFeedEvent, taken?: Message): void => {
    const [state, { sources, isTaken, isPublishDue, wakeAt }] = nextSharedFeed(process.state, event, now);
    process.state = state;
    expect(wakeAt).toBe(state.publishAt);
    expect(state.isReading && isTaken).toBe(false);
    // It hears its sources from then on.
    if (sources === 'read') process.digest = world.digest;
    if (isTaken && taken) process.digest = taken.digest;
    if (!isPublishDue) return;
    expect(state.isReading).toBe(true);
    process.publishedAt.push(now);
    const { digest } = process;
    for (const to of processes) if (to !== process) send({ to, digest, at: now + world.delayMs });
    next(process, { kind: 'published', digest });
  };
  const send = (message: Message) => {
    if (world.loses > 0) world.loses -= 1;
    else messages.push(message);
    if (world.doubles > 0) messages.push(message);
    world.doubles = Math.max(0, world.doubles - 1);
  };
  const ask = (process: Process): Reader => {
    if (!process.isConnected) return 'unknown';
    if (now >= lease.until) lease.holder = process;
    const isOwn = lease.holder === process;
    if (isOwn) lease.until = now + LEASE_MS;
    process.answer = { at: now, reader: isOwn ? 'own' : 'other' };
    return process.answer.reader;
  };
  const frame = (digest: string | null) => {
    world.digest = digest;
    for (const process of processes) {
      if (!process.state.isReading || now < process.pausedUntil) continue;
      process.digest = digest;
      next(process, { kind: 'frame', digest });
    }
  };
  const wait = (ms: number, check: () => void) => {
    for (const end = now + ms; now < end; ) {
      now += STEP_MS;
      const due = messages.filter(({ at }) => at <= now);
      messages = messages.filter(({ at }) => at > now);
      for (const message of due) next(message.to, { kind: 'message' }, message);
      for (const process of processes) {
        if (now < process.pausedUntil) continue;
        if (process.state.publishAt !== null && process.state.publishAt <= now) next(process, { kind: 'time' });
        if (now < process.tickAt) continue;
        process.tickAt = now + RENEW_MS;
        next(process, { kind: 'reader', reader: ask(process) });
      }
      check();
    }
  };
  return Object.assign(world, { processes, frame, wait });
}

const process = fc.nat({ max: PROCESSES - 1 });
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('frame' as const), digest: fc.constantFrom('a', 'b', null) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(10, 50, 250, 2_000) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('lose' as const, 'double' as const), count: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delay' as const), ms: fc.nat({ max: MAX_DELAY_MS }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cut' as const, 'connect' as const), process }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const), process, ms: fc.nat({ max: 4_000 }) }) },
);

test('property: one process reads at a time, and a cancel reaches all, whatever is lost, doubled or late', () => {
  let reads = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 40 }), (steps) => {
      const world = startWorld();
      const { processes } = world;
      const check = () => {
        // Those that Redis answers, and that ask when they should.
        const known = processes.filter(({ answer }) => world.now() - answer.at < RENEW_MS + STEP_MS);
        const isAnswered = ({ isConnected, pausedUntil }: Process) => isConnected && pausedUntil <= world.now();
        const readers = known.filter((each) => isAnswered(each) && each.state.isReading);
        assertEqual(readers.slice(1), []);
        reads += readers.length;
        for (const { answer, state } of known) {
          if (answer.reader === 'other' && world.now() - answer.at < ALONE_AFTER_MS)
            expect(state.isReading).toBe(false);
        }
      };
      for (const each of steps) {
        if (each.do === 'wait') world.wait(each.ms, check);
        if (each.do === 'lose') world.loses = each.count;
        if (each.do === 'double') world.doubles = each.count;
        if (each.do === 'delay') world.delayMs = each.ms;
        if (each.do === 'cut' || each.do === 'connect')
          (processes[each.process] as Process).isConnected = each.do === 'connect';
        if (each.do === 'pause') (processes[each.process] as Process).pausedUntil = world.now() + each.ms;
        if (each.do !== 'frame') continue;
        world.frame(each.digest);
        for (const { state, publishedAt, pausedUntil } of processes) {
          if (!state.isReading || pausedUntil > world.now()) continue;
          if (each.digest === null) expect(state.published?.digest).toBe(null);
          else expect(state.publishAt === null || state.publishAt <= (publishedAt.at(-1) ?? 0) + PUBLISH_MS).toBe(true);
        }
      }
      // Once all is well, all know what holds, after a lease at most.
      Object.assign(world, { loses: 0, doubles: 0 });
      for (const each of processes) Object.assign(each, { isConnected: true, pausedUntil: 0 });
      world.wait(LEASE_MS + 2 * RENEW_MS + MAX_DELAY_MS, check);
      expect(processes.filter(({ state }) => state.isReading)).toHaveLength(1);
      expect(processes.map(({ digest }) => digest)).toEqual(processes.map(() => world.digest));
      world.frame('last');
      world.wait(PUBLISH_MS + MAX_DELAY_MS + STEP_MS, check);
      expect(processes.map(({ digest }) => digest)).toEqual(processes.map(() => 'last'));
      world.frame(null);
      world.wait(MAX_DELAY_MS + STEP_MS, check);
      expect(processes.map(({ digest }) => digest)).toEqual(processes.map(() => null));
    }),
  );
  expect(reads).toBeGreaterThan(1_000);
});

/** Takes events at their times. @returns the state after them, and when something was published */
function run(events: readonly (readonly [now: number, event: SharedFeedEvent])[], from = NEW_SHARED_FEED) {
  let state = from;
  const published: number[] = [];
  for (const [now, event] of events) {
    const [next, { isPublishDue }] = nextSharedFeed(state, event, now);
    state = next;
    if (!isPublishDue || event.kind === 'reader') continue;
    published.push(now);
    [state] = nextSharedFeed(state, { kind: 'published', digest: 'digest' in event ? event.digest : 'late' }, now);
  }
  return { state, published };
}

test('a process without Redis reads by itself after a second, a reader goes on meanwhile', () => {
  const unknown: SharedFeedEvent = { kind: 'reader', reader: 'unknown' };
  expect(run([[0, unknown]]).state.isReading).toBe(false);
  expect(
    run([
      [0, unknown],
      [999, unknown],
    ]).state.isReading,
  ).toBe(false);
  expect(
    run([
      [0, unknown],
      [1_000, unknown],
    ]).state.isReading,
  ).toBe(true);
  const own: SharedFeedEvent = { kind: 'reader', reader: 'own' };
  expect(
    run([
      [0, own],
      [250, unknown],
    ]).state.isReading,
  ).toBe(true);
  expect(
    run([
      [0, unknown],
      [500, { kind: 'reader', reader: 'other' }],
      [1_400, unknown],
    ]).state.isReading,
  ).toBe(false);
});

test('property: changes are 80 ms apart unless they end the last overrides, and none that stays is held back longer', () => {
  const events = fc.array(fc.tuple(fc.nat({ max: 60 }), fc.constantFrom('a', 'b', null)), { maxLength: 40 });
  fc.assert(
    fc.property(events, (frames) => {
      let now = 0;
      let [state] = nextSharedFeed(NEW_SHARED_FEED, { kind: 'reader', reader: 'own' }, now);
      let last = Number.NEGATIVE_INFINITY;
      let holds: string | null = null;
      const take = (event: SharedFeedEvent) => {
        const [next, { isPublishDue }] = nextSharedFeed(state, event, now);
        state = next;
        if (!isPublishDue) return;
        expect(holds === null || now - last >= PUBLISH_MS).toBe(true);
        last = now;
        [state] = nextSharedFeed(state, { kind: 'published', digest: holds }, now);
      };
      for (const [waitMs, digest] of frames) {
        for (const until = now + waitMs; now < until; ) {
          now = Math.min(until, state.publishAt ?? until);
          if (state.publishAt !== null && state.publishAt <= now) take({ kind: 'time' });
        }
        holds = digest;
        take({ kind: 'frame', digest });
        const isKnown = state.published?.digest === digest;
        expect(isKnown || (state.publishAt ?? Number.POSITIVE_INFINITY) <= last + PUBLISH_MS).toBe(true);
      }
    }),
  );
});
