import { expect, test } from 'vitest';
import { BOUNDS } from './frame.ts';
import { A, addressOf, B, frame, hexOf, mergerOf, one, overrides, two } from './frame-merger.fixture.ts';

test('a frame of one block changes nothing of another, and the block after the head counts', () => {
  const { merger } = mergerOf();
  expect(merger.state(9n)).toBeUndefined();
  expect(merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 9n)).toBe('used');
  const before = merger.state(9n);
  expect(merger.take(two, frame(11, { [B]: overrides({ 2: 2 }) }), 9n)).toBe('used');
  expect(merger.state(9n)).toBe(before);
  expect(merger.take(one, frame(10, { [A]: overrides({ 1: 3 }) }), 9n)).toBe('used');
  expect(merger.state(9n)).toMatchObject({ blockNumber: 10n, overrides: overrides({ 1: 3 }) });
  expect(merger.state(10n)).toMatchObject({ blockNumber: 11n, overrides: overrides({ 2: 2 }) });
  expect(merger.take(one, frame(10, { [A]: overrides({ 1: 4 }) }), 10n)).toBe('late');
});

test('of a source that names a block one too high in every tenth frame, each other frame counts', () => {
  const { merger, clock } = mergerOf();
  for (let n = 0; n < 100; n += 1) {
    clock.ms += 250;
    merger.take(one, frame(n % 10 === 0 ? 11 : 10, { [A]: overrides({ 1: n }) }), 9n);
    const shown = n % 10 === 0 ? n - 1 : n;
    expect(merger.state(9n)).toEqual(
      n === 0 ? undefined : expect.objectContaining({ overrides: overrides({ 1: shown }) }),
    );
  }
});

test('the block after the next is shown when sources sent it, and not the next, for the maximum age', () => {
  const { merger, clock } = mergerOf();
  const take = (number: number, value: number) => merger.take(one, frame(number, { [A]: overrides({ 1: value }) }), 9n);
  const shown = () => merger.state(9n)?.blockNumber;
  take(10, 1);
  for (clock.ms = 400; clock.ms <= 1_200; clock.ms += 400) {
    take(11, clock.ms);
    expect(shown()).toBe(clock.ms < 1_000 ? 10n : undefined);
  }
  take(11, 1_600);
  expect(merger.state(9n)).toMatchObject({ blockNumber: 11n, overrides: overrides({ 1: 1_600 }) });
  take(10, 2);
  expect(shown()).toBe(10n);
  // The last frame before the sources ended was a leap.
  take(11, 3);
  clock.ms += 1_001;
  expect(shown()).toBeUndefined();
});

test('a block far above the head is dropped, and one that was taken before the head was known stops no other source', () => {
  const { merger } = mergerOf();
  expect(merger.take(one, frame(13, { [A]: overrides({ 1: 1 }) }), 10n)).toBe('ahead');
  expect(merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 10n)).toBe('late');
  expect(merger.take(one, frame(2 ** 50, { [A]: overrides({ 1: 1 }) }), undefined)).toBe('used');
  expect(merger.take(two, frame(11, { [A]: overrides({ 1: 2 }) }), undefined)).toBe('used');
  expect(merger.state(undefined)?.blockNumber).toBe(2n ** 50n);
  expect(merger.state(10n)).toMatchObject({ blockNumber: 11n, overrides: overrides({ 1: 2 }) });
});

test('a source that sends ever more venues keeps those that it sent last', () => {
  const { merger } = mergerOf();
  const share = BOUNDS.overrides / 4;
  const many = (from: number) =>
    overrides(Object.fromEntries(Array.from({ length: share }, (_, n) => [from * share + n, 1])));
  for (let n = 0; n < 6; n += 1) merger.take(one, frame(10, { [addressOf(n)]: many(n) }), 9n);
  const slots = merger.state(9n)?.overrides.get(addressOf(9));
  expect([slots?.size, slots?.has(hexOf(2 * share)), slots?.has(hexOf(2 * share - 1))]).toEqual([
    BOUNDS.overrides,
    true,
    false,
  ]);
  for (let n = 0; n < 300; n += 1)
    merger.take(two, frame(10, { [addressOf(n)]: overrides({ [1_000_000 + n]: 1 }) }), 9n);
  expect(merger.state(9n)?.overrides.get(addressOf(9))?.size).toBe(BOUNDS.overrides + BOUNDS.venues);
});

test('only the overrides of sources that may be passed on are, by venue: of several the newest, which come first', () => {
  const [republished, other] = [
    { id: 'd', republish: true },
    { id: 'e', republish: true },
  ];
  const { merger } = mergerOf();
  const shown = () => [...(merger.state(9n)?.republished ?? [])];
  merger.take(one, frame(10, { [A]: overrides({ 1: 1 }) }), 9n);
  expect(merger.state(9n)?.republished).toBeUndefined();
  const before = merger.state(9n)?.digest;
  merger.take(republished, frame(10, { [A]: overrides({ 1: 1 }) }), 9n);
  expect(shown()).toEqual([[A, overrides({ 1: 1 })]]);
  expect(merger.state(9n)?.digest).not.toBe(before);
  merger.take(other, frame(10, { [A]: overrides({ 1: 2 }), [B]: overrides({ 2: 2 }) }), 9n);
  merger.take(one, frame(10, { [A]: overrides({ 1: 3 }) }), 9n);
  expect(new Map(shown())).toEqual(
    new Map([
      [A, overrides({ 1: 2 })],
      [B, overrides({ 2: 2 })],
    ]),
  );
  merger.take(republished, frame(10, { [A]: overrides({ 1: 4 }) }), 9n);
  merger.take(other, frame(10, { [B]: overrides({ 2: 2 }) }), 9n);
  merger.take(republished, frame(10, { [A]: overrides({ 1: 4 }) }), 9n);
  expect(shown()).toEqual([
    [A, overrides({ 1: 4 })],
    [B, overrides({ 2: 2 })],
  ]);
  expect(merger.state(9n)?.overrides).toEqual(overrides({ 1: 4, 2: 2 }));
});
