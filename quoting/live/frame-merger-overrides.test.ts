import { expect, test } from 'vitest';
import type { Frame } from './frame.ts';
import { A, addressOf, B, frame, hexOf, mergerOf, one, overrides, two } from './frame-merger.fixture.ts';
import { MAX_AGE_MS } from './merge-model.fixture.ts';

test('a venue of a frame loses its overrides of before, other venues keep theirs unless the frame is complete', () => {
  const { merger } = mergerOf();
  merger.take(one, frame(10, { [A]: overrides({ 1: 1, 2: 2 }), [B]: overrides({ 3: 3 }) }), 9n);
  merger.take(two, frame(10, { [A]: overrides({ 4: 4 }) }), 9n);
  merger.take(one, frame(10, { [A]: overrides({ 1: 5 }) }), 9n);
  expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 5, 3: 3, 4: 4 }));
  merger.take(one, frame(10, { [A]: overrides({ 1: 6 }) }, { isComplete: true }), 9n);
  expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 6, 4: 4 }));
  merger.take(one, frame(10, {}, { isComplete: true }), 9n);
  merger.take(two, frame(10, {}, { isComplete: true }), 9n);
  expect(merger.state(9n)).toBeUndefined();
});

test('a frame with the same overrides only renews them: newer overrides of another source still win, and all hold on', () => {
  const { merger, clock } = mergerOf();
  const older = () => merger.take(one, frame(10, { [A]: overrides({ 1: 1, 2: 1 }) }), 9n);
  older();
  clock.ms = 100;
  merger.take(two, frame(10, { [B]: overrides({ 1: 2 }) }), 9n);
  clock.ms = 900;
  older();
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 1: 2, 2: 1 }), receivedAt: 100 });
  clock.ms = 1_200;
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 1: 1, 2: 1 }), receivedAt: 900 });
  // Overrides count one by one: what changed is newer, what is repeated is not.
  merger.take(two, frame(10, { [B]: overrides({ 1: 2, 2: 2 }) }), 9n);
  merger.take(one, frame(10, { [A]: overrides({ 1: 3, 2: 1 }) }), 9n);
  expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 3, 2: 2 }));
});

test('of two keys of a maker in one stream, the one that repeats an older word does not win, not even after the other ended', () => {
  for (const isEnded of [true, false]) {
    const { merger, clock } = mergerOf();
    const older = () => merger.take(one, frame(10, { [A]: overrides({ 1: 1, 2: 1 }) }), 9n);
    older();
    for (clock.ms = 100; clock.ms < 2_000; clock.ms += 100) {
      if (clock.ms < 900) merger.take(one, frame(10, { [B]: overrides({ 1: 2 }) }), 9n);
      older();
      expect(merger.state(9n)?.overrides).toEqual(clock.ms < 1_900 ? overrides({ 1: 2, 2: 1 }) : overrides({ 2: 1 }));
    }
    if (isEnded) merger.take(one, frame(10, { [B]: overrides({}) }), 9n);
    older();
    expect(merger.state(9n)?.overrides).toEqual(overrides({ 2: 1 }));
    merger.take(one, frame(10, { [A]: overrides({ 1: 3, 2: 1 }) }), 9n);
    expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 3, 2: 1 }));
  }
});

test('a key that repeats the word of another when that ended still gives it', () => {
  const { merger, clock } = mergerOf();
  const repeat = () => merger.take(one, frame(10, { [A]: overrides({ 1: 2 }) }), 9n);
  repeat();
  merger.take(one, frame(10, { [B]: overrides({ 1: 1 }) }), 9n);
  merger.take(one, frame(10, { [B]: overrides({ 1: 2 }) }), 9n);
  clock.ms = 900;
  repeat();
  clock.ms = 1_200;
  expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 2 }));
});

test('overrides that a key repeats from block to block win over no newer ones', () => {
  const { merger } = mergerOf();
  for (let number = 10; number < 20; number += 1) {
    const top = BigInt(number - 1);
    const older = () => merger.take(one, frame(number, { [A]: overrides({ 1: 1, 2: number === 10 ? 0 : 1 }) }), top);
    const newer = () => merger.take(one, frame(number, { [B]: overrides({ 1: 2 }) }), top);
    for (const take of number % 3 ? (number % 2 ? [newer, older] : [older, newer]) : [newer]) take();
    expect(merger.state(top)?.overrides.get(addressOf(9))?.get(hexOf(1))).toBe(hexOf(2));
  }
  merger.take(one, frame(20, { [A]: overrides({ 1: 1, 2: 1 }) }), 19n);
  expect(merger.state(19n)?.overrides).toEqual(overrides({ 2: 1 }));
});

test('a word that a key sent early for the next block does not win there over a newer one of another', () => {
  const { merger } = mergerOf();
  const older = (number: number) => merger.take(one, frame(number, { [A]: overrides({ 1: 1 }) }), 9n);
  older(10);
  older(11);
  merger.take(one, frame(10, { [B]: overrides({ 1: 2 }) }), 9n);
  older(10);
  merger.take(one, frame(11, { [B]: overrides({ 1: 2 }) }), 10n);
  expect(merger.state(10n)?.overrides).toEqual(overrides({ 1: 2 }));
});

test('the newest frame wins where overrides differ, and the oldest frame with overrides in the result gives its time', () => {
  const { merger, clock } = mergerOf();
  merger.take(one, frame(10, { [A]: overrides({ 1: 1, 2: 1 }) }, { timestamp: 120n }), 9n);
  clock.ms = 100;
  merger.take(two, frame(10, { [B]: overrides({ 1: 2 }) }), 9n);
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 1: 2, 2: 1 }), receivedAt: 0, timestamp: 120n });
  clock.ms = 200;
  merger.take(two, frame(10, { [B]: overrides({ 1: 3, 2: 3 }) }), 9n);
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 1: 3, 2: 3 }), receivedAt: 200, timestamp: null });
});

test('overrides that are not renewed are left out after the maximum age', () => {
  const { merger, clock } = mergerOf();
  merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 9n);
  clock.ms = 600;
  merger.take(one, frame(10, { [B]: overrides({ 2: 2 }) }), 9n);
  clock.ms = 1_000;
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 1: 1, 2: 2 }), receivedAt: 0 });
  clock.ms = 1_001;
  expect(merger.state(9n)).toMatchObject({ overrides: overrides({ 2: 2 }), receivedAt: 600 });
  clock.ms = 1_601;
  expect(merger.state(9n)).toBeUndefined();
});

test('overrides that are too old are not shared, though their source counts as heard', () => {
  const { merger, clock } = mergerOf();
  merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 9n);
  clock.ms += MAX_AGE_MS + 1;
  merger.take(one, frame(10, { [B]: overrides({ 2: 2 }) }), 9n);
  const venues = () =>
    merger.shared().map(({ sources }) => sources.map(({ parts }) => parts.map(({ venue }) => venue)));
  expect(venues()).toEqual([[[B]]]);
  clock.ms += MAX_AGE_MS + 1;
  expect(venues()).toEqual([[[]]]);
});

test('a renewal with the same content changes only its age', () => {
  const { merger, clock } = mergerOf();
  const take = () => merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 9n);
  take();
  const before = merger.state(9n);
  expect(merger.state(9n)).toBe(before);
  clock.ms = 500;
  take();
  const after = merger.state(9n);
  expect(after).toEqual({ ...before, receivedAt: 500 });
  expect(after?.digest).toMatch(/^[\w-]{22}$/);
});

test('number, time and overrides each change the digest', () => {
  const digestOf = (sent: Frame) => {
    const { merger } = mergerOf();
    merger.take(one, sent, undefined);
    return merger.state(undefined)?.digest;
  };
  const venues = { [A]: overrides({ 1: 1 }) };
  const sent = [
    frame(10, venues),
    frame(11, venues),
    frame(10, venues, { timestamp: 120n }),
    frame(10, { [A]: overrides({ 1: 2 }) }),
  ];
  expect(new Set(sent.map(digestOf)).size).toBe(4);
  expect(digestOf(frame(10, { [B]: overrides({ 1: 1 }) }))).toBe(digestOf(frame(10, venues)));
});
