import fc from 'fast-check';
import type { Address, Hex } from 'viem';
import { expect, test } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { KNOWN_MS } from '../../chain/node-abilities.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { ChainTail } from '../heads/chain-tail.ts';
import { type LiveInputs, lastReceived, noLiveHead } from './live-head-state.ts';
import { ANNOUNCE_MS, type LiveEvent, nextLiveHead } from './next-live-head.ts';
import type { PendingOverrides } from './sourced-block.ts';

const PACE = { blockTimeMs: 2_000, maxAgeMs: 1_300 };
const ACCOUNT: Address = `0x${'0a'.repeat(20)}`;
const TOKEN: Address = `0x${'0b'.repeat(20)}`;
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`;
const committedHead = (number: number, fork: number): ReportedHead => ({
  block: { number: BigInt(number), hash: word(1_000 * fork + number), parents: [], timestamp: BigInt(2 * number) },
  endpoint: null,
});

/** A shell whose time is a number: it does at each time what is due. */
class Simulation {
  now = 0;
  state = noLiveHead;
  committed = committedHead(10, 0);
  top = 10n;
  overrides: PendingOverrides | undefined;
  isProtectedKnown = true;
  readonly announced: { readonly head: ReportedHead; readonly at: number }[] = [];
  /** What was taken, where that changed. */
  readonly taken: { readonly head: ReportedHead; readonly committed: ReportedHead; readonly at: number }[] = [];

  get inputs(): LiveInputs {
    const protectedAccounts = this.isProtectedKnown ? new Set([TOKEN]) : undefined;
    const { committed, top, overrides } = this;
    return { committed, top, overrides, protectedAccounts };
  }

  take(event: LiveEvent): void {
    const [state, { announce }] = nextLiveHead(this.state, event, this.now, PACE);
    this.state = state;
    if (announce) this.announced.push({ head: announce.head, at: this.now });
    const { taken } = state;
    if (taken && taken.head !== this.taken.at(-1)?.head)
      this.taken.push({ head: taken.head, committed: taken.committed, at: this.now });
    this.#wakeUpBefore(this.now);
  }

  ask(): ReportedHead['block'] | undefined {
    this.take({ kind: 'asked', inputs: this.inputs });
    return this.state.taken?.head.block;
  }

  frame(blockNumber: bigint, value: number): void {
    const slots = new Map([[word(1), word(value)]]);
    const overrides = new Map([ACCOUNT, TOKEN].map((account) => [account, slots]));
    const digest = `${blockNumber} ${value}`;
    this.overrides = { blockNumber, timestamp: null, overrides, digest, receivedAt: this.now };
    this.take({ kind: 'merged', overrides: this.overrides });
    this.take({ kind: 'frame' });
  }

  commit(number: number, fork: number): void {
    this.committed = committedHead(number, fork);
    this.top = BigInt(number);
    this.take({ kind: 'committed', branch: ChainTail.EMPTY, inputs: this.inputs });
  }

  wait(ms: number): void {
    const until = this.now + ms;
    this.#wakeUpBefore(until);
    this.now = until;
  }

  #wakeUpBefore(until: number): void {
    for (let { wakeAt } = this.state; wakeAt !== null && wakeAt <= until; { wakeAt } = this.state) {
      this.now = Math.max(this.now, wakeAt);
      this.take({ kind: 'time', inputs: this.inputs });
    }
  }
}

type Step =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'block'; readonly by: number }
  | { readonly do: 'frame'; readonly ahead: bigint; readonly value: number }
  | { readonly do: 'top' | 'refused' | 'ignored' | 'unknown' | 'cancel' | 'watch' | 'unwatch' };

const waits = fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 900 }) });
const blocks = fc.record({ do: fc.constant('block' as const), by: fc.integer({ min: -1, max: 2 }) });
const frames = fc.record({
  do: fc.constant('frame' as const),
  ahead: fc.bigInt(-1n, 3n),
  value: fc.integer({ min: 1, max: 3 }),
});
const others = fc.record({
  do: fc.constantFrom(...(['top', 'refused', 'ignored', 'unknown', 'cancel', 'watch', 'unwatch'] as const)),
});

/** @param forks counts the branches so far */
function happen(world: Simulation, step: Step, forks: { count: number }): void {
  const { number } = world.committed.block;
  switch (step.do) {
    case 'wait':
      world.wait(step.ms);
      break;
    case 'frame':
      world.frame(number + step.ahead, step.value);
      break;
    case 'block':
      if (step.by <= 0) forks.count += 1;
      world.commit(Number(number) + step.by, forks.count);
      break;
    case 'top':
      world.top += 1n;
      break;
    case 'refused':
    case 'ignored':
      world.take({ kind: 'rejected', by: step.do });
      break;
    case 'unknown':
      world.isProtectedKnown = !world.isProtectedKnown;
      break;
    case 'cancel':
      world.overrides = undefined;
      break;
    case 'watch':
      world.take({ kind: 'watched' });
      break;
    case 'unwatch':
      if (world.state.watchers > 0) world.take({ kind: 'unwatched' });
  }
}

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
