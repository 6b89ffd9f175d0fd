import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KNOWN_MS } from '../../chain/node-abilities.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { ACCOUNT, blocks, frames, happen, others, PACE, Simulation, waits } from './live-head-simulation.fixture.ts';
import { lastReceived } from './live-head-state.ts';
import { ANNOUNCE_MS, nextLiveHead } from './next-live-head.ts';

test('a block being built is above what was seen, never goes back, has young overrides of accounts that are not protected', () => {
  let [live, committed, kept, lower] = [0, 0, 0, 0];
  const step = fc.oneof({ weight: 3, arbitrary: waits }, blocks, { weight: 5, arbitrary: frames }, others);
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 40 }), (steps) => {
      const [world, forks] = [new Simulation(), { count: 0 }];
      let [highest, before, last] = [0n, 0n, world.committed];
      for (const each of steps) {
        happen(world, each, forks);
        const { taken } = world.state;
        const block = world.ask();
        if (world.committed !== last && world.committed.block.number <= last.block.number) highest = 0n;
        last = world.committed;
        expect(block?.hash).toBe(world.committed.block.hash);
        const { pending } = block ?? {};
        if (!pending) {
          committed += 1;
          continue;
        }
        live += 1;
        const { number, timestamp } = world.committed.block;
        expect(pending.blockNumber).toBeGreaterThan(world.top);
        expect(pending.blockNumber - number).toBeLessThanOrEqual(2n);
        expect(pending.blockNumber).toBeGreaterThanOrEqual(highest);
        if (pending.blockNumber < before) lower += 1;
        [highest, before] = [pending.blockNumber, pending.blockNumber];
        expect(pending.timestamp).toBe(timestamp + 2n * (pending.blockNumber - number));
        expect([...pending.overrides.keys()]).toEqual([ACCOUNT]);
        expect(world.now - lastReceived(world.state, pending)).toBeLessThan(PACE.maxAgeMs);
        if (world.state.taken === taken) kept += 1;
      }
      // Of one committed head, states that only differ in their overrides are some time apart.
      for (const [index, { head, at, committed: on }] of world.taken.entries()) {
        const {
          head: {
            block: { pending },
          } = head,
          at: since = 0,
          committed: lastOn,
        } = world.taken[index - 1] ?? {};
        if (lastOn !== on || pending?.blockNumber !== head.block.pending?.blockNumber) continue;
        expect(head.block.pending?.digest).not.toBe(pending?.digest);
        const isEnded = pending !== undefined && at - lastReceived(world.state, pending) >= PACE.maxAgeMs;
        if (!isEnded) expect(at - since).toBeGreaterThanOrEqual(100);
      }
    }),
    { numRuns: runs(300) },
  );
  for (const count of [live, committed, kept]) expect(count).toBeGreaterThan(100);
  // The chain went back.
  expect(lower).toBeGreaterThan(10);
});

test('listeners get the newest state soon, not too often, and hear of the end of overrides', () => {
  let [announcements, ends] = [0, 0];
  const step = fc.oneof({ weight: 3, arbitrary: waits }, blocks, { weight: 5, arbitrary: frames });
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 40 }), (steps) => {
      const [world, forks] = [new Simulation(), { count: 0 }];
      world.commit(10, 0);
      world.take({ kind: 'watched' });
      for (const each of steps) {
        happen(world, each, forks);
        if (each.do !== 'wait') continue;
        const { announcedAt, taken, announced } = world.state;
        world.wait(Math.max(0, announcedAt + ANNOUNCE_MS - world.now));
        const { pending } = world.state.taken?.head.block ?? {};
        const expiredMs = world.now - (pending ? lastReceived(world.state, pending) : 0) - PACE.maxAgeMs;
        // Within this time after their end, listeners need not know yet.
        if (expiredMs >= 0 && expiredMs <= ANNOUNCE_MS) continue;
        expect(world.ask()).toBe(world.announced.at(-1)?.head.block);
        if (taken === announced && !taken?.head.block.pending) ends += 1;
      }
      for (const [index, { head, at }] of world.announced.entries()) {
        const last = world.announced[index - 1];
        if (!last || last.head.block.hash !== head.block.hash) continue;
        expect(head).not.toBe(last.head);
        expect(at - last.at).toBeGreaterThanOrEqual(ANNOUNCE_MS);
      }
      announcements += world.announced.length;
    }),
    { numRuns: runs(300) },
  );
  for (const count of [announcements, ends]) expect(count).toBeGreaterThan(100);
});

test('who begins to watch hears of the end of overrides that requests got before', () => {
  const world = new Simulation();
  world.commit(10, 0);
  world.wait(ANNOUNCE_MS);
  world.frame(11n, 1);
  expect(world.ask()?.pending).toBeDefined();
  world.take({ kind: 'watched' });
  world.wait(PACE.maxAgeMs);
  expect(world.announced.map(({ head }) => head.block.pending !== undefined)).toEqual([false, true, false]);
});

test('who watches hears of a head that a request took without any frame, and of its end', () => {
  const world = new Simulation();
  world.isProtectedKnown = false;
  world.commit(10, 0);
  world.take({ kind: 'watched' });
  world.frame(11n, 1);
  world.wait(2 * ANNOUNCE_MS);
  world.isProtectedKnown = true;
  expect(world.ask()?.pending).toBeDefined();
  world.wait(PACE.maxAgeMs);
  expect(world.announced.map(({ head }) => head.block.pending !== undefined)).toEqual([false, true, false]);
});

test('overrides that are sent again are as young as when they were sent last, in every head, and change none', () => {
  let [renewals, older] = [0, 0];
  const step = fc.oneof({ weight: 3, arbitrary: waits }, blocks, { weight: 5, arbitrary: frames }, others);
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 30 }), (steps) => {
      const [world, forks] = [new Simulation(), { count: 0 }];
      const sentAt = new Map<string | undefined, number>();
      for (const each of steps) {
        happen(world, each, forks);
        if (each.do === 'frame') sentAt.set(world.overrides?.digest, world.now);
        const head = world.ask();
        // One that came early after the last may be taken a millisecond later.
        if (each.do === 'frame' && head?.pending && head.pending.digest === world.overrides?.digest) {
          world.wait(1);
          world.frame(world.committed.block.number + each.ahead, each.value);
          sentAt.set(world.overrides?.digest, world.now);
          expect(world.ask()).toBe(head);
          renewals += 1;
        }
        for (const { head: taken } of world.taken) {
          const { pending } = taken.block;
          if (!pending) continue;
          expect(lastReceived(world.state, pending)).toBe(sentAt.get(pending.digest));
          if (pending.receivedAt !== sentAt.get(pending.digest)) older += 1;
        }
      }
    }),
    { numRuns: runs(200) },
  );
  for (const count of [renewals, older]) expect(count).toBeGreaterThan(100);
});

test('nodes that continue to reject overrides are reported once', () => {
  const world = new Simulation();
  const reject = (by: 'refused' | 'ignored') => {
    const [state, { isSuspended }] = nextLiveHead(world.state, { kind: 'rejected', by }, world.now, PACE);
    world.state = state;
    world.frame(11n, 1);
    return [isSuspended, world.ask()?.pending !== undefined];
  };
  expect(reject('refused')).toEqual([true, false]);
  world.wait(999);
  expect(reject('ignored')).toEqual([false, false]);
  world.wait(KNOWN_MS - 1);
  expect(reject('refused')).toEqual([false, false]);
  world.wait(1_000);
  world.frame(11n, 1);
  expect(world.ask()?.pending).toBeDefined();
  expect(reject('refused')).toEqual([true, false]);
  // Nothing needs time while nobody watches.
  expect(world.state.wakeAt).toBeNull();
});

test('listeners get no head below the last one while nodes refuse that, which requests do', () => {
  const world = new Simulation();
  world.take({ kind: 'watched' });
  world.commit(10, 0);
  const before = world.committed;
  world.commit(11, 0);
  world.frame(12n, 1);
  world.wait(300);
  const [last, announced] = [world.committed, world.announced.length];
  expect(world.announced.at(-1)?.head.block.pending).toBeDefined();
  world.committed = before;
  world.frame(12n, 2);
  world.wait(900);
  expect(world.ask()?.number).toBe(10n);
  expect(world.announced.length).toBe(announced);
  // They hear of overrides that became too old.
  world.wait(5_000);
  const [ended, ...more] = world.announced.slice(announced);
  expect([ended?.head, more]).toEqual([last, []]);
  expect(ended?.at).toBeGreaterThanOrEqual(PACE.maxAgeMs);
  expect(ended?.at).toBeLessThanOrEqual(PACE.maxAgeMs + 250);
  world.committed = last;
  world.frame(12n, 3);
  world.wait(5_000);
  expect(world.announced.slice(announced).map(({ head }) => head.block.number)).toContain(11n);
});
