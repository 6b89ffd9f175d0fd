import { expect, test } from 'vitest';
import { nextWarm } from './next-warm.ts';
import { BRANCH, FAILURE, headAt, KEEP_MS, READS, startWarming } from './warm-world.fixture.ts';

test('of heads that come during a run the next one reads the newest alone', () => {
  const { world, take, endStep, settle } = startWarming();
  take({ kind: 'head', head: world.head, branch: BRANCH });
  expect(world.step).toBe(null);
  world.requested = READS.slice(0, 1);
  take({ kind: 'requested' });
  for (let steps = 0; steps < 3; steps++) endStep();
  expect(world.step).toMatchObject({ kind: 'read', head: { block: { number: 1n } } });
  for (const number of [2, 3]) {
    world.head = headAt(number);
    take({ kind: 'head', head: world.head, branch: BRANCH });
  }
  settle();
  const blocks = world.results.map((result) => result?.block.number);
  expect(blocks).toEqual([1n, 1n, 3n, 3n]);
});

test('a read that gave nothing is reported unless its last one is young, and tried again at each tick', () => {
  const { world, take, endStep, settle } = startWarming();
  world.requested = READS.slice(0, 1);
  take({ kind: 'head', head: world.head, branch: BRANCH });
  take({ kind: 'requested' });
  settle();
  const readAt = world.now;
  world.head = headAt(2);
  take({ kind: 'head', head: world.head, branch: BRANCH });
  for (const [now, unread] of [
    [readAt + KEEP_MS - 1, 0],
    [readAt + KEEP_MS, 1],
  ] as const) {
    world.now = now;
    world.results = [];
    while (world.step) endStep({ failing: [0] });
    const [result] = world.results;
    expect([result?.outcomes.size, world.state.coverage]).toEqual([unread, { requested: 1, unread }]);
    take({ kind: 'tick', isOutdated: false });
    expect(world.step).toEqual({ kind: 'begin' });
  }
});

test('a provisional snapshot is reported, counts as read, and its pool is tried again at each tick', () => {
  const { world, take, endStep, settle } = startWarming();
  world.requested = READS.slice(0, 2);
  take({ kind: 'head', head: world.head, branch: BRANCH });
  take({ kind: 'requested' });
  for (const [provisional, isTried] of [
    [[0], true],
    [[0], true],
    [[], false],
  ] as const) {
    world.now += 2 * KEEP_MS;
    world.results = [];
    while (world.step) endStep({ provisional });
    expect([...(world.results[0]?.outcomes.keys() ?? [])]).toContain(READS[0]?.address);
    expect(world.state.coverage).toEqual({ requested: 2, unread: 0 });
    take({ kind: 'tick', isOutdated: false });
    expect(world.step).toEqual(isTried ? { kind: 'begin' } : null);
  }
  settle();
});

test('without a head all reads fail, at once when it is lost and every five seconds', () => {
  const { world, take, endStep, settle } = startWarming();
  world.requested = READS;
  take({ kind: 'head', head: world.head, branch: BRANCH });
  take({ kind: 'requested' });
  settle();
  world.results = [];
  take({ kind: 'tick', isOutdated: true });
  while (world.step) endStep({ isDown: true });
  expect(world.results.map((result) => [...(result?.outcomes.values() ?? [])])).toEqual([
    [FAILURE, FAILURE, FAILURE],
    [FAILURE, FAILURE, FAILURE],
  ]);
  // The last run left all reads undone: without `keepMs` only time makes the next one.
  const begins = Array.from({ length: 20 }, () => {
    const [state, { step }] = nextWarm(world.state, { kind: 'tick', isOutdated: true }, world.now, 0);
    world.state = { ...state, run: null, isDue: false };
    return step !== null;
  });
  expect(begins.flatMap((isBegun, index) => (isBegun ? [index] : []))).toEqual([8, 18]);
});
