import fc from 'fast-check';
import { numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { pendingPart } from '../../chain/pending-part.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import { assertEqual } from '../../test/harness/assert-equal.ts';
import { runs } from '../../test/harness/property-seed.ts';
import {
  AFTER_FAILURE_MS,
  AFTER_OTHERS_MS,
  awaitableMs,
  CLAIM_MS,
  isHeld,
  MAX_PART_WAIT_MS,
  MAX_WAIT_MS,
  NO_READERS,
  nextReaders,
  type ReadersEffect,
  type ReadersEvent,
  type ReadersState,
  TICK_MS,
} from './block-readers.ts';

/*
 * Processes that share the reads of a chain over a Redis that answers late or not; messages are lost, late or doubled.
 */

const PROCESSES = 3;
const STEP_MS = 10;
const MAX_DELAY_MS = 1_500;

const blockAt = (number: number): BlockHeader => ({
  number: BigInt(number),
  hash: numberToHex(number, { size: 32 }),
  parents: [numberToHex(number + 99, { size: 32 })],
  timestamp: BigInt(number),
});

interface Process {
  readers: ReadersState;
  tickAt: number;
  isConnected: boolean;
  pausedUntil: number;
  /** States at which another process published. */
  readonly published: Set<string>;
}

function startWorld() {
  let now = 0;
  /** Of a state, until when a process holds it; the process is null when the block was read. */
  const redis = new Map<string, { readonly holder: Process | null; readonly until: number }>();
  let due: { readonly at: number; readonly run: () => void }[] = [];
  const world = { delayMs: 0, loses: 0, isDoubled: false };
  const processes = Array.from({ length: PROCESSES }, (_, index): Process => {
    return { readers: NO_READERS, tickAt: index, isConnected: true, pausedUntil: 0, published: new Set() };
  });
  /** Runs in a process once it does not stand still. */
  const later = (ms: number, process: Process, run: () => void) => {
    const at = now + ms;
    due.push({ at, run: () => (now < process.pausedUntil ? later(process.pausedUntil - now, process, run) : run()) });
  };
  const take = (process: Process, event: ReadersEvent) => {
    const [readers, effect] = nextReaders(process.readers, event, now);
    process.readers = readers;
    if (effect) perform(process, effect);
  };
  const perform = (process: Process, effect: ReadersEffect) => {
    const { kind, state } = effect;
    const askedAt = now;
    if (kind === 'wait')
      return later(effect.ms, process, () => {
        take(process, { kind: 'waited', state, isPublished: process.published.has(state) });
      });
    const held = redis.get(state);
    const isFree = !held || held.until <= now;
    const { isConnected } = process;
    // It never renews what another process holds. One that stood still may have ended it since.
    if (kind === 'renew') assertEqual((held?.holder ?? process) === process || isFree, true);
    if (isConnected && kind !== 'take') {
      const holder = kind === 'end' ? null : process;
      redis.set(state, { holder, until: now + (holder ? CLAIM_MS : 10_000) });
    }
    if (isConnected && kind === 'take' && isFree) redis.set(state, { holder: process, until: now + CLAIM_MS });
    if (kind === 'renew' && isConnected)
      later(world.delayMs, process, () => take(process, { kind: 'renewed', state, askedAt }));
    if (kind !== 'take') return;
    const answer = !isConnected ? 'failed' : isFree ? 'taken' : held?.holder ? 'held' : 'over';
    later(world.delayMs, process, () => take(process, { kind: 'answered', state, answer, askedAt }));
  };
  const publish = (from: Process, block: BlockHeader) => {
    for (const to of processes) {
      const hear = () => {
        to.published.add(block.hash);
        take(to, { kind: 'heard', state: block.hash, block });
      };
      if (to === from) continue;
      world.loses -= 1;
      if (world.loses < 0) later(world.delayMs, to, hear);
      if (world.isDoubled) later(2 * world.delayMs, to, hear);
    }
  };
  const wait = (ms: number, check: () => void) => {
    for (const end = now + ms; now < end; ) {
      now += STEP_MS;
      const ready = due.filter(({ at }) => at <= now);
      due = due.filter(({ at }) => at > now);
      for (const { run } of ready) run();
      for (const process of processes) {
        if (now < process.tickAt || now < process.pausedUntil) continue;
        process.tickAt = now + TICK_MS;
        take(process, { kind: 'tick', isAwaited: true });
      }
      check();
    }
  };
  return Object.assign(world, { now: () => now, processes, redis, take, publish, wait });
}

const process = fc.nat({ max: PROCESSES - 1 });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('block' as const) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('want' as const, 'read' as const), process }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(10, 50, 250, 1_100) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('end' as const, 'fail' as const), process }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('disturb' as const),
      loses: fc.nat({ max: 3 }),
      delayMs: fc.constantFrom(0, 0, 20, 300, MAX_DELAY_MS),
      isDoubled: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('cut' as const, 'connect' as const), process }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const), process, ms: fc.nat({ max: 3_000 }) }) },
);

test('property: of the processes that surely hold a block there is one, and Redis gave it the block', () => {
  let holders = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      const world = startWorld();
      const { processes } = world;
      let number = 1;
      const check = () => {
        const now = world.now();
        for (let of = Math.max(1, number - 3); of <= number; of += 1) {
          const { hash } = blockAt(of);
          const held = processes.filter(({ readers }) => {
            const claim = readers.claims.get(hash);
            return claim !== undefined && isHeld(claim, now);
          });
          assertEqual(held.slice(1), []);
          for (const each of held) assertEqual((world.redis.get(hash)?.holder ?? each) === each, true);
          holders += held.length;
        }
      };
      for (const each of steps) {
        const own = 'process' in each ? (processes[each.process] as Process) : undefined;
        const block = blockAt(number);
        const claim = own?.readers.claims.get(block.hash);
        if (each.do === 'block') number += 1;
        if (each.do === 'wait') world.wait(each.ms, check);
        if (each.do === 'disturb') Object.assign(world, each);
        if (each.do === 'pause' && own) own.pausedUntil = world.now() + each.ms;
        if ((each.do === 'cut' || each.do === 'connect') && own) own.isConnected = each.do === 'connect';
        if (!own || own.pausedUntil > world.now()) continue;
        if (each.do === 'want') world.take(own, { kind: 'wanted', state: block.hash, block, isAlone: false });
        if (each.do === 'read' && claim?.reader === 'own') world.publish(own, block);
        if (each.do === 'end') world.take(own, { kind: 'ended', state: block.hash });
        if (each.do === 'fail') world.take(own, { kind: 'nodesFailed' });
      }
      // Once all is well, one process reads the next block, and the others know that.
      Object.assign(world, { loses: 0, delayMs: 0 });
      for (const each of processes) Object.assign(each, { isConnected: true, pausedUntil: 0 });
      world.wait(2 * MAX_DELAY_MS + TICK_MS, check);
      const last = blockAt(number + 1);
      for (const each of processes) world.take(each, { kind: 'wanted', state: last.hash, block: last, isAlone: false });
      world.wait(AFTER_FAILURE_MS + STEP_MS, check);
      const readers = processes.map((each) => each.readers.claims.get(last.hash)?.reader);
      expect(readers.toSorted()).toEqual(['other', 'other', 'own']);
    }),
    { numRuns: runs(100) },
  );
  expect(holders).toBeGreaterThan(300);
});

const [one, two] = [blockAt(1), blockAt(2)];
const wanted = (block: BlockHeader): ReadersEvent => ({ kind: 'wanted', state: block.hash, block, isAlone: false });
const answered = (block: BlockHeader, answer: 'taken' | 'held' | 'over' | 'failed'): ReadersEvent => {
  return { kind: 'answered', state: block.hash, answer, askedAt: 0 };
};

function after(...events: readonly ReadersEvent[]): ReadersState {
  return events.reduce((state, event) => nextReaders(state, event, 0)[0], NO_READERS);
}
const effectOf = (state: ReadersState, event: ReadersEvent, now = 0) => nextReaders(state, event, now)[1];

test('the reader of the last block claims the next one at once, others wait, longer after their nodes failed', () => {
  const state = two.hash;
  expect(effectOf(after(wanted(one), answered(one, 'taken')), wanted(two))).toEqual({ kind: 'take', state });
  expect(effectOf(NO_READERS, wanted(two))).toEqual({ kind: 'wait', state, ms: AFTER_OTHERS_MS });
  const failed: ReadersEvent = { kind: 'nodesFailed' };
  expect(effectOf(after(failed), wanted(two))).toMatchObject({ ms: AFTER_FAILURE_MS });
  // Even that reader: it hears of heads from others, whose nodes do not fail.
  expect(effectOf(after(wanted(one), answered(one, 'taken'), failed), wanted(two))).toMatchObject({ kind: 'wait' });
  expect(effectOf(NO_READERS, { ...wanted(two), isAlone: true } as ReadersEvent)).toBe(null);
});

test('a process that knows more of a block than others claims it at once, and they wait', () => {
  const [state, block] = [two.hash, two];
  const at = (comesFirst: boolean): ReadersEvent => ({ kind: 'wanted', state, block, isAlone: false, comesFirst });
  expect(effectOf(after({ kind: 'heard', state: one.hash, block: one }), at(true))).toEqual({ kind: 'take', state });
  const wait = { kind: 'wait', state, ms: AFTER_OTHERS_MS };
  expect(effectOf(after(wanted(one), answered(one, 'taken')), at(false))).toEqual(wait);
  // Others may have better nodes.
  expect(effectOf(after({ kind: 'nodesFailed' }), at(true))).toEqual({ ...wait, ms: AFTER_FAILURE_MS });
});

test('a block whose reader is gone is taken while it is awaited, for two seconds', () => {
  const held = after(wanted(one), answered(one, 'held'));
  const tick: ReadersEvent = { kind: 'tick', isAwaited: true };
  expect(effectOf(held, tick, MAX_WAIT_MS - 1)).toEqual({ kind: 'take', state: one.hash });
  expect(effectOf(held, { ...tick, isAwaited: false }, 250)).toBe(null);
  expect(effectOf(held, tick, MAX_WAIT_MS)).toBe(null);
  expect(awaitableMs(held.claims.get(one.hash), 500)).toBe(MAX_WAIT_MS - 500);
});

test('what another process reads after a part is awaited more briefly, and what this one reads is not', () => {
  const part = {
    view: { blockNumber: 2n, timestamp: 2n, parentHash: null, feesWei: 1n },
    index: null,
    multicall3: one.hash,
  } as const;
  const block = { ...one, pending: pendingPart(part, 0) };
  const atPart: ReadersEvent = { kind: 'wanted', state: 'part', block, isAlone: false };
  const answeredAt = (answer: 'held' | 'taken'): ReadersEvent => ({
    kind: 'answered',
    state: 'part',
    answer,
    askedAt: 0,
  });
  const msAfter = (answer: 'held' | 'taken') => awaitableMs(after(atPart, answeredAt(answer)).claims.get('part'), 100);
  expect([msAfter('held'), msAfter('taken')]).toEqual([MAX_PART_WAIT_MS - 100, 0]);
});

test('a claim is renewed until the process stood still for as long as it lasts', () => {
  const own = after(wanted(one), answered(one, 'taken'));
  const tick: ReadersEvent = { kind: 'tick', isAwaited: true };
  expect(effectOf(own, tick, CLAIM_MS - 1)).toEqual({ kind: 'renew', state: one.hash });
  expect(effectOf(own, tick, CLAIM_MS)).toBe(null);
  const [renewed] = nextReaders(own, { kind: 'renewed', state: one.hash, askedAt: 900 }, 950);
  expect(effectOf(renewed, tick, 900 + CLAIM_MS - 1)).toEqual({ kind: 'renew', state: one.hash });
});
