import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import type { Frame } from './frame.ts';
import { A, addressOf, B, frame, hexOf, one, overrides, two } from './frame-merger.fixture.ts';
import { type MergedFrames, nextMerged, noFrames, pendingOverrides } from './frame-merger.ts';
import { holdersOf } from './price-holders.ts';
import type { SourceName } from './source-parts.ts';

const MAX_AGE_MS = 1_000;
const BLOCK = 7;

/** What sources sent, in this order, at these times. */
function sent(...frames: readonly (readonly [SourceName, Frame, number?])[]): MergedFrames {
  let state = noFrames;
  for (const [source, each, at = 0] of frames)
    [state] = nextMerged(state, { kind: 'frame', source, frame: each, top: undefined }, at, MAX_AGE_MS);
  return state;
}

const wordAt = (slot: number, value: number) => [addressOf(9), hexOf(slot), hexOf(value)] as [`0x${string}`, Hex, Hex];

function holders(state: MergedFrames, words: ReturnType<typeof wordAt>[] | null, now = 0) {
  const [, merged] = pendingOverrides(state, undefined, now, MAX_AGE_MS);
  if (!merged) throw new Error('there are no overrides');
  return holdersOf(state, merged, words, { now, maxAgeMs: MAX_AGE_MS });
}

test('a source holds a price whose words it sent, in whatever venue, and whatever else it sent', () => {
  const state = sent(
    [one, frame(BLOCK, { [A]: overrides({ 1: 10, 2: 20 }) })],
    [two, frame(BLOCK, { [A]: overrides({ 3: 30 }), [B]: overrides({ 1: 10 }) })],
  );
  expect(holders(state, [wordAt(1, 10)])).toEqual(['a', 'b']);
  expect(holders(state, [wordAt(1, 10), wordAt(2, 20)])).toEqual(['a']);
  expect(holders(state, [wordAt(3, 30)])).toEqual(['b']);
  expect(holders(state, [wordAt(3, 31)])).toEqual([]);
});

test('a source with a newer price does not hold the older one, and one that ended holds none', () => {
  const state = sent(
    [one, frame(BLOCK, { [A]: overrides({ 1: 10 }) })],
    [two, frame(BLOCK, { [A]: overrides({ 1: 10 }) }), 100],
    [one, frame(BLOCK, { [A]: overrides({ 1: 11 }) }), 200],
  );
  expect(holders(state, [wordAt(1, 10)], 200)).toEqual(['b']);
  expect(holders(state, [wordAt(1, 11)], 200)).toEqual(['a']);
  expect(holders(state, [wordAt(1, 10)], 1_101)).toEqual([]);
});

test('a source that a venue of its own contradicts holds what counts there', () => {
  const both = { [A]: overrides({ 1: 10 }), [B]: overrides({ 1: 12 }) };
  const state = sent([one, frame(BLOCK, both)]);
  expect([holders(state, [wordAt(1, 10)]), holders(state, [wordAt(1, 12)])]).toEqual([['a'], []]);
});

test('of other blocks nothing is held', () => {
  const state = sent(
    [one, frame(BLOCK - 1, { [A]: overrides({ 1: 10 }) })],
    [two, frame(BLOCK, { [A]: overrides({ 1: 10 }) })],
  );
  expect(holders(state, [wordAt(1, 10)])).toEqual(['b']);
});

test('while it is not known which words a price reads, sources are known only if all have all of the block', () => {
  const same = sent(
    [one, frame(BLOCK, { [A]: overrides({ 1: 10, 2: 20 }) })],
    [two, frame(BLOCK, { [B]: overrides({ 1: 10, 2: 20 }) })],
  );
  expect([holders(same, null), holders(same, [])]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
  const other = sent(
    [one, frame(BLOCK, { [A]: overrides({ 1: 10, 2: 20 }) })],
    [two, frame(BLOCK, { [A]: overrides({ 1: 10 }) })],
  );
  expect(holders(other, null)).toBeNull();
});
