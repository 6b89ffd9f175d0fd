import type { Address, Hex } from 'viem';
import { expect, test } from 'vitest';
import type { StateOverrides, TargetBlock } from '../../chain/pending-state.ts';
import type { OwnUpdate } from './own-update.ts';
import {
  beginTrace,
  OWN_BOUNDS,
  type OwnSenders,
  type OwnTrace,
  withoutExpired,
  withTraced,
  withUpdate,
  writtenAt,
} from './own-updates.ts';

const HEAD: Hex = `0x${'aa'.repeat(32)}`;
const NEXT: Hex = `0x${'bb'.repeat(32)}`;
const OVERRIDES: StateOverrides = new Map([[`0x${'28'.repeat(20)}` as const, new Map([[HEAD, NEXT]])]]);
const at = (blockNumber: bigint, timestamp = 1_000n): TargetBlock => ({ blockNumber, timestamp });

function updateOf(change: Partial<OwnUpdate> & { readonly n?: number } = {}): OwnUpdate {
  const { n = 1, ...more } = change;
  return {
    sender: 'maker',
    uuid: `0x${n.toString(16).padStart(32, '0')}`,
    seq: 1n,
    tx: '0x02',
    fromBlock: 0n,
    untilBlock: 10n,
    sentAtMs: 0,
    ...more,
  };
}

/** Keeps updates between calls. */
class OwnUpdates {
  #senders: OwnSenders = new Map();

  get isEmpty(): boolean {
    return this.#senders.size === 0;
  }

  /** @returns whether it is newer than what is known */
  take(update: OwnUpdate, now: number): boolean {
    const before = this.#senders;
    this.#senders = withUpdate(before, update, now);
    return this.#senders !== before;
  }

  expire(target: TargetBlock, now: number): void {
    this.#senders = withoutExpired(this.#senders, target, now);
  }

  next(hash: Hex, target: TargetBlock, now: number): OwnTrace | undefined {
    const next = beginTrace(this.#senders, hash, target, now);
    if (next) this.#senders = next.senders;
    return next?.trace;
  }

  settle(trace: OwnTrace, overrides: StateOverrides | undefined): void {
    this.#senders = withTraced(this.#senders, trace, overrides);
  }

  overrides(hash: Hex): ReadonlyMap<Address, StateOverrides> {
    return writtenAt(this.#senders, hash);
  }
}

/** All that waits for a trace, in order, as if each trace were over at once. */
function drain(updates: OwnUpdates, hash = HEAD, target = at(10n)): OwnUpdate[] {
  const drained: OwnUpdate[] = [];
  for (let next = updates.next(hash, target, 0); next; next = updates.next(hash, target, 0)) {
    updates.settle(next, undefined);
    drained.push(next.update);
  }
  return drained;
}

test('only a higher sequence number of the same sender and uuid replaces an update', () => {
  const updates = new OwnUpdates();
  expect(updates.take(updateOf({ seq: 5n }), 0)).toBe(true);
  for (const seq of [4n, 5n]) expect(updates.take(updateOf({ seq }), 0)).toBe(false);
  expect(updates.take(updateOf({ seq: 4n, sender: 'other' }), 0)).toBe(true);
  expect(updates.take(updateOf({ seq: 4n, n: 2 }), 0)).toBe(true);
  expect(updates.take(updateOf({ seq: 6n }), 0)).toBe(true);
  expect(drain(updates).map(({ sender, seq }) => `${sender} ${seq}`)).toEqual(['maker 6', 'other 4', 'maker 4']);
});

test('a cancel is remembered: no older update comes back', () => {
  const updates = new OwnUpdates();
  updates.take(updateOf({ seq: 5n }), 0);
  updates.take(updateOf({ seq: 7n, tx: '0x', untilBlock: 0n }), 0);
  updates.expire(at(10n), 1_000);
  expect(updates.take(updateOf({ seq: 6n }), 1_000)).toBe(false);
  expect(drain(updates)).toEqual([]);
});

test.each([
  ['in its first block', { fromBlock: 10n }, 1],
  ['in its last block', { untilBlock: 10n }, 1],
  ['before its first block', { fromBlock: 11n, untilBlock: 11n }, 0],
  ['after its last block', { untilBlock: 9n }, 0],
  ['at its time', { untilSecs: 1_000n }, 1],
  ['after its time', { untilSecs: 999n }, 0],
])('%s an update is traced %s times', (_when, change, times) => {
  const updates = new OwnUpdates();
  updates.take(updateOf(change), 0);
  expect(drain(updates)).toHaveLength(times);
});

test('each update is traced once at each head, and senders take turns', () => {
  const updates = new OwnUpdates();
  for (let n = 1; n <= 3; n += 1) updates.take(updateOf({ n, sender: 'busy' }), 0);
  updates.take(updateOf({ sender: 'quiet' }), 0);
  const senders = ['busy', 'quiet', 'busy', 'busy'];
  expect(drain(updates).map(({ sender }) => sender)).toEqual(senders);
  expect(drain(updates)).toEqual([]);
  expect(drain(updates, NEXT)).toHaveLength(4);
});

test('an update that waits gives its place to a newer one, a traced one does not', () => {
  const updates = new OwnUpdates();
  for (let n = 1; n <= 3; n += 1) updates.take(updateOf({ n }), 0);
  updates.take(updateOf({ n: 1, seq: 2n }), 0);
  expect(drain(updates).map(({ uuid }) => Number(uuid))).toEqual([1, 2, 3]);
  updates.take(updateOf({ n: 1, seq: 3n }), 0);
  expect(drain(updates, NEXT).map(({ uuid }) => Number(uuid))).toEqual([2, 3, 1]);
});

test('the overrides of an update hold at their head until a newer one is traced or cancels it', () => {
  const updates = new OwnUpdates();
  updates.take(updateOf(), 0);
  const next = updates.next(HEAD, at(10n), 0);
  if (!next) throw new Error('no update waits');
  updates.settle(next, OVERRIDES);
  expect(updates.overrides(NEXT)).toEqual(new Map());
  updates.take(updateOf({ seq: 2n }), 0);
  expect(updates.overrides(HEAD)).toEqual(new Map([[next.venue, OVERRIDES]]));
  updates.take(updateOf({ seq: 3n, tx: '0x' }), 0);
  expect(updates.overrides(HEAD)).toEqual(new Map());
});

/** Traces the next update at a head, which finds one word. */
function traceNext(updates: OwnUpdates, hash: Hex, target: TargetBlock) {
  const next = updates.next(hash, target, 0);
  if (next) updates.settle(next, OVERRIDES);
  return next;
}

test.each([
  ['for a later block', { fromBlock: 11n, untilBlock: 11n }],
  ['for an earlier block', { untilBlock: 9n }],
  ['for an earlier time', { untilSecs: 999n }],
  ['that cancels', { tx: '0x' as const }],
])('the overrides of an update end at once when one %s replaces it', (_which, change) => {
  const updates = new OwnUpdates();
  updates.take(updateOf({ seq: 5n }), 0);
  traceNext(updates, HEAD, at(10n));
  expect(updates.overrides(HEAD).size).toBe(1);
  updates.take(updateOf({ seq: 6n, ...change }), 0);
  expect(updates.overrides(HEAD).size).toBe(0);
});

test('what a trace found of an update counts no more once one for another block replaced it', () => {
  const updates = new OwnUpdates();
  updates.take(updateOf({ seq: 5n }), 0);
  const next = updates.next(HEAD, at(10n), 0);
  if (!next) throw new Error('no update waits');
  updates.take(updateOf({ seq: 6n, fromBlock: 11n, untilBlock: 11n }), 0);
  updates.settle(next, OVERRIDES);
  expect(updates.overrides(HEAD).size).toBe(0);
  expect(traceNext(updates, NEXT, at(11n, 1_002n))?.update.seq).toBe(6n);
  expect(updates.overrides(NEXT).size).toBe(1);
});

test('the end of a trace from before a sender was left out ends no other trace of it', () => {
  const updates = new OwnUpdates();
  updates.take(updateOf(), 0);
  const before = updates.next(HEAD, at(10n), 0);
  updates.expire(at(11n), 0);
  for (const n of [1, 2]) updates.take(updateOf({ n, seq: 2n, untilBlock: 20n }), 0);
  expect(updates.next(NEXT, at(11n), 0)?.update.seq).toBe(2n);
  if (before) updates.settle(before, OVERRIDES);
  expect([updates.overrides(HEAD).size, updates.next(NEXT, at(11n), 0)]).toEqual([0, undefined]);
});

test('uuids, transactions, senders and age are bounded: the oldest is left out', () => {
  const updates = new OwnUpdates();
  for (let n = 1; n <= 1_000; n += 1) updates.take(updateOf({ n }), 0);
  const kept = drain(updates).map(({ uuid }) => Number(uuid));
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([OWN_BOUNDS.uuids, 1_001 - OWN_BOUNDS.uuids, 1_000]);

  const large = new OwnUpdates();
  const tx: Hex = `0x${'00'.repeat(30_000)}`;
  for (let n = 1; n <= 30; n += 1) large.take(updateOf({ n, tx }), 0);
  expect(drain(large)).toHaveLength(Math.floor(OWN_BOUNDS.characters / tx.length));

  const many = new OwnUpdates();
  for (let n = 1; n <= 200; n += 1) many.take(updateOf({ sender: `maker ${n}` }), n);
  expect(drain(many)).toHaveLength(OWN_BOUNDS.senders);
  expect(many.isEmpty).toBe(false);
  many.expire(at(10n), OWN_BOUNDS.ageMs + 201);
  expect(many.isEmpty).toBe(true);
});
