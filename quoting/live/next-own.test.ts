import fc from 'fast-check';
import type { Address, Hex } from 'viem';
import { expect, test } from 'vitest';
import { blockAfter, type StateOverrides } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { assertUntil } from '../../test/harness/assert-until.ts';
import { runs } from '../../test/harness/property-seed.ts';
import type { Frame } from './frame.ts';
import { isIdle, nextOwn, noUpdates, type OwnEvent } from './next-own.ts';
import type { OwnUpdate } from './own-update.ts';
import { isGoodFor, OWN_BOUNDS, type OwnTrace, venueOf } from './own-updates.ts';

const BLOCK_MS = 2_000;
const TICK_MS = 20;
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`;
const written = (value: number): StateOverrides =>
  new Map([[`0x${'28'.repeat(20)}` as const, new Map([[word(1), word(value)]])]]);
const headAt = (number: number): BlockRef => ({
  number: BigInt(number),
  hash: word(number),
  timestamp: BigInt(2 * number),
});

/** A shell whose time is a number, and whose traces end when a test says so. */
class Simulation {
  now = 0;
  head: BlockRef | undefined = headAt(10);
  state = noUpdates;
  /** Newest of each venue. */
  readonly newest = new Map<Address, OwnUpdate>();
  readonly inFlight: OwnTrace[] = [];
  /** The trace of each sender that began last. */
  readonly began = new Map<string, OwnTrace>();
  /** What the last of these traces found of each venue. */
  readonly found = new Map<Address, { readonly hash: Hex; readonly overrides: StateOverrides | undefined }>();
  frame: Frame | undefined;
  frameAt = Number.NEGATIVE_INFINITY;
  polls = 0;
  polledAt = Number.NEGATIVE_INFINITY;

  take(event: OwnEvent): void {
    const sent = [...(this.frame?.venues ?? [])].filter(([, { size }]) => size > 0);
    const { senders } = this.state;
    const [state, { frame, trace, poll }] = nextOwn(this.state, event, this.now, BLOCK_MS);
    this.state = state;
    // A sender all of whose updates expired comes again as a new one, whatever is traced of it.
    if (trace) expect(senders.get(trace.update.sender)?.tracing).toBeUndefined();
    if (trace) expect(event).toMatchObject({ kind: 'time', canTrace: true });
    if (poll) {
      expect(this.now - this.polledAt).toBeGreaterThanOrEqual(1_000);
      [this.polls, this.polledAt] = [this.polls + 1, this.now];
    }
    if (trace) this.#begin(trace);
    if (!frame) return;
    for (const [venue] of sent) expect([...frame.venues.keys()]).toContain(venue);
    [this.frame, this.frameAt] = [frame, this.now];
    this.#check(frame);
  }

  end(trace: OwnTrace, value: number | null): void {
    this.inFlight.splice(this.inFlight.indexOf(trace), 1);
    const { head } = this;
    const overrides = value ? written(value) : undefined;
    // One that began before its sender was forgotten counts no more.
    const isLast = this.began.get(trace.update.sender) === trace;
    if (value !== null && isLast) this.found.set(trace.venue, { hash: trace.hash, overrides });
    this.take(value === null ? { kind: 'failed', trace, head } : { kind: 'traced', trace, overrides, head });
  }

  tick(canTrace: boolean): void {
    this.now += TICK_MS;
    this.take({ kind: 'time', canTrace, head: this.head });
  }

  #begin(trace: OwnTrace): void {
    const { update, venue, hash, target } = trace;
    expect([update, hash]).toEqual([this.newest.get(venue), this.head?.hash]);
    expect(isGoodFor(update, target)).toBe(true);
    this.inFlight.push(trace);
    this.began.set(update.sender, trace);
    expect(this.inFlight.length).toBeLessThanOrEqual(4);
  }

  #check({ blockNumber, venues }: Frame): void {
    const head = this.head as BlockRef;
    expect(blockNumber).toBe(head.number + 1n);
    for (const [venue, overrides] of venues) {
      if (overrides.size === 0) continue;
      expect(this.found.get(venue)).toEqual({ hash: head.hash, overrides });
      expect(isGoodFor(this.newest.get(venue) as OwnUpdate, blockAfter(head, BLOCK_MS))).toBe(true);
    }
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      sender: fc.constantFrom(1, 1, 1, 2, 2, 3, 4, 5, 6),
      uuid: fc.constantFrom(1, 1, 2),
      isCancel: fc.nat({ max: 2 }).map((chance) => chance === 0),
      blocks: fc.tuple(fc.bigInt(-1n, 1n), fc.bigInt(0n, 9n)),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('ticks' as const), count: fc.integer({ min: 1, max: 30 }) }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      index: fc.nat({ max: 3 }),
      value: fc.option(fc.nat({ max: 5 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('block' as const, 'headless' as const) }) },
);

test('whatever comes, frames have what updates write after the head, soon and again, and name what ended', async () => {
  let [frames, overrides, ends, polls] = [0, 0, 0, 0];
  await assertUntil(
    () => Math.min(frames, overrides, polls) > 100 && ends > 20,
    fc.property(fc.array(step, { minLength: 20, maxLength: 100 }), (steps) => {
      const world = new Simulation();
      let [seq, number] = [0n, 10];
      for (const each of steps) {
        if (each.do === 'update') {
          seq += 1n;
          const [from, length] = each.blocks;
          const fromBlock = BigInt(number) + 1n + from;
          const update: OwnUpdate = {
            sender: `maker ${each.sender}`,
            uuid: `0x${String(each.uuid).padStart(32, '0')}`,
            seq,
            tx: each.isCancel ? '0x' : '0x02',
            fromBlock,
            untilBlock: fromBlock + length,
            sentAtMs: 0,
          };
          const venue = venueOf(update);
          world.newest.set(venue, update);
          const wasSent = (world.frame?.venues.get(venue)?.size ?? 0) > 0;
          world.take({ kind: 'update', update, head: world.head });
          if (!wasSent || !world.head || isGoodFor(update, blockAfter(world.head, BLOCK_MS))) continue;
          expect(world.frame?.venues.get(venue)?.size).toBe(0);
          ends += 1;
        } else if (each.do === 'ticks') {
          for (let count = 0; count < each.count; count += 1) {
            world.tick(count % 5 !== 0);
            const venues = world.frame?.venues.values().toArray() ?? [];
            const isOnHead = world.frame?.blockNumber === (world.head?.number ?? 0n) + 1n;
            if (isOnHead && venues.some(({ size }) => size > 0)) {
              expect(world.now - world.frameAt).toBeLessThan(250);
              overrides += 1;
            }
          }
        } else if (each.do === 'end') {
          const trace = world.inFlight[each.index % Math.max(1, world.inFlight.length)];
          if (trace) world.end(trace, each.value);
        } else if (each.do === 'block') {
          number += 1;
          world.head = headAt(number);
        } else world.head = world.head ? undefined : headAt(number);
        if (world.frameAt === world.now) frames += 1;
      }
      polls += world.polls;
    }),
    { numRuns: runs(300) },
  );
});

test('an update is traced once at a head, and again a second after a trace failed', () => {
  const world = new Simulation();
  const update: OwnUpdate = {
    sender: 'a',
    uuid: '0x',
    seq: 1n,
    tx: '0x02',
    fromBlock: 0n,
    untilBlock: 99n,
    sentAtMs: 0,
  };
  world.newest.set(venueOf(update), update);
  world.take({ kind: 'update', update, head: world.head });
  world.tick(true);
  world.end(world.inFlight[0] as OwnTrace, null);
  for (let count = 0; count < 49; count += 1) world.tick(true);
  expect(world.inFlight).toEqual([]);
  world.tick(true);
  world.end(world.inFlight[0] as OwnTrace, 1);
  for (let count = 0; count < 100; count += 1) world.tick(true);
  expect(world.inFlight).toEqual([]);
  world.head = headAt(11);
  world.tick(true);
  expect(world.inFlight).toHaveLength(1);
});

test('a cancel of what only an earlier reader knew is passed on', () => {
  const world = new Simulation();
  const update: OwnUpdate = { sender: 'a', uuid: '0x', seq: 1n, tx: '0x', fromBlock: 0n, untilBlock: 0n, sentAtMs: 0 };
  world.take({ kind: 'update', update, head: world.head });
  expect(world.frame?.venues).toEqual(new Map([[venueOf(update), new Map()]]));
});

test('once a cancel is passed on, nothing is to be done until the next update', () => {
  const update: OwnUpdate = {
    sender: 'maker',
    uuid: `0x${'1'.repeat(32)}`,
    seq: 1n,
    tx: '0x01',
    fromBlock: 11n,
    untilBlock: 12n,
    sentAtMs: 0,
  };
  const world = new Simulation();
  world.newest.set(venueOf(update), update);
  const take = (taken: OwnUpdate) => world.take({ kind: 'update', update: taken, head: world.head });
  take(update);
  expect(isIdle(world.state)).toBe(false);
  world.tick(true);
  world.end(world.inFlight[0] as OwnTrace, 5);
  take({ ...update, seq: 2n, tx: '0x' });
  world.tick(true);
  expect(world.frame?.venues.get(venueOf(update))?.size).toBe(0);
  expect(isIdle(world.state)).toBe(true);
  take({ ...update, seq: 1n });
  expect(isIdle(world.state)).toBe(true);
  // It is forgotten as if time had been noted.
  world.now += OWN_BOUNDS.ageMs + 1;
  take({ ...update, seq: 1n });
  expect(isIdle(world.state)).toBe(false);
});
