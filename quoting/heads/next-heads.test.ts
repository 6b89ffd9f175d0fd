import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { maxBigint } from '../../protocol/fixed-point.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { ChainTail, UNKNOWN_HEIGHT } from './chain-tail.ts';
import { announcedHead, type HeadState, noHeads } from './head-state.ts';
import { type HeadEvent, nextHeads } from './next-heads.ts';
import { blockOf, forks, type Head, head, namesOfHeads, replacedBetween } from './test-chain.fixture.ts';

afterEach(() => {
  for (const fork of Object.keys(forks)) delete forks[fork];
});

/** A chain told by nodes that say what `heads` says, after `delayMs`; the first one is polled by default. */
function chainOf(blockTimeMs: number) {
  const chain = {
    ms: 0,
    wallMs: 0,
    heads: [head(1)],
    polls: 0,
    hasFailed: false,
    reportedAt: 0,
    isDown: false,
    delayMs: 0,
  };
  const pace = { blockTimeMs, minRefreshMs: 500 };
  let state = noHeads<Head>();
  let wakeAt: number | null = null;
  let answers: { readonly at: number; readonly event: HeadEvent<Head> }[] = [];
  const listeners: ((head: Head, branch: ChainTail, before: HeadState<Head>) => void)[] = [];
  const answer = (event: HeadEvent<Head>) => {
    answers = [...answers, { at: chain.ms + chain.delayMs, event }].sort((a, b) => a.at - b.at);
  };
  const happen = (event: HeadEvent<Head>) => {
    const before = state;
    const [next, { taken, poll, lookUp, ...effects }] = nextHeads(before, event, chain.ms, pace);
    state = next;
    wakeAt = effects.wakeAt;
    for (const each of taken) for (const listener of listeners) listener(each.head, each.branch, before);
    if (poll === 'one') chain.polls += 1;
    if (poll) {
      const heads = poll === 'one' ? chain.heads.slice(0, 1) : chain.heads;
      if (!chain.isDown) chain.reportedAt = chain.ms;
      answer(chain.isDown ? { kind: 'failed' } : { kind: 'polled', heads });
    }
    if (lookUp) {
      chain.hasFailed ||= chain.isDown;
      answer({ kind: 'header', header: chain.isDown ? undefined : blockOf(lookUp.hash, lookUp.number) });
    }
  };
  const take = (event: HeadEvent<Head>) => {
    happen(event);
    advanceTo(chain.ms);
  };
  /** Lets time pass: answers come, and the state is woken. */
  const advanceTo = (ms: number) => {
    for (;;) {
      const answerAt = answers[0]?.at ?? Number.POSITIVE_INFINITY;
      const at = Math.min(answerAt, wakeAt ?? Number.POSITIVE_INFINITY);
      if (at > ms) break;
      chain.ms = Math.max(chain.ms, at);
      if (answerAt > at) happen({ kind: 'time' });
      else happen((answers.shift() as (typeof answers)[0]).event);
      // It is not woken again at once.
      expect(wakeAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(answerAt > at ? chain.ms : Number.NEGATIVE_INFINITY);
    }
    chain.ms = ms;
  };
  const tracked = {
    get current() {
      return state.current;
    },
    get announced() {
      return announcedHead(state, chain.ms);
    },
    get takenAt() {
      return state.takenAt;
    },
    get isWoken() {
      return wakeAt !== null;
    },
    ask: () => take({ kind: 'asked', waits: true, wallMs: chain.wallMs }),
    push: (pushed: Head) => {
      chain.reportedAt = chain.ms;
      take({ kind: 'pushed', head: pushed, wallMs: chain.wallMs });
    },
    hear: (number: number) => take({ kind: 'heard', from: 'another process', number: BigInt(number) }),
    read: ({ block }: Head) => take({ kind: 'read', block }),
    reject: ({ block }: Head) => take({ kind: 'rejected', block }),
    watch: () => {
      take({ kind: 'watched' });
      return () => take({ kind: 'unwatched' });
    },
    onTaken: (listener: (typeof listeners)[0]) => listeners.push(listener),
  };
  const names: string[] = [];
  const nameOf = namesOfHeads();
  tracked.onTaken((taken, branch) => names.push(nameOf(taken, branch)));
  /** Number of the head that a request gets at a time. */
  const numberAt = (ms: number) => {
    advanceTo(ms);
    tracked.ask();
    return Number(tracked.current?.block.number);
  };
  return { chain, tracked, advanceTo, numberAt, names };
}

test('polls depend on time, not on the number of requests', () => {
  const { chain, numberAt } = chainOf(200);
  for (let ms = 0; ms < 10_000; ms += 5) numberAt(ms);
  expect(chain.polls).toBeLessThanOrEqual(20);
  expect(chain.polls).toBeGreaterThanOrEqual(18);
});

test('while a poll is in flight no other starts', () => {
  const { chain, tracked, numberAt } = chainOf(200);
  chain.delayMs = 4_000;
  const stop = tracked.watch();
  for (let ms = 0; ms < 3_999; ms += 10) numberAt(ms);
  expect(chain.polls).toBe(1);
  expect(numberAt(4_000)).toBe(1);
  stop();
  expect(tracked.isWoken).toBe(false);
});

test('a slow chain is polled about four times a block, and a new block is seen within a second', () => {
  const { chain, numberAt } = chainOf(12_000);
  const delays: number[] = [];
  for (let ms = 0; ms < 120_000; ms += 20) {
    const produced = Math.floor(ms / 12_000) + 1;
    chain.heads = [head(produced)];
    if (numberAt(ms) < produced) delays.push(ms - (produced - 1) * 12_000);
  }
  expect(Math.max(...delays)).toBeLessThanOrEqual(1_000);
  expect(chain.polls).toBeLessThanOrEqual(45);
});

test('a head is not announced beyond its time while the chain cannot be seen', () => {
  const { chain, tracked, advanceTo, numberAt } = chainOf(1_000);
  numberAt(0);
  chain.isDown = true;
  advanceTo(999);
  expect(tracked.announced).toEqual(head(1));
  advanceTo(1_001);
  expect(tracked.announced).toBeUndefined();
  tracked.ask();
  expect(tracked.announced).toBeUndefined();
  chain.isDown = false;
  chain.heads = [head(2)];
  expect(numberAt(1_100)).toBe(2);
});

test('a node that lags never takes the head back', () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(10)];
  expect(numberAt(0)).toBe(10);
  chain.heads = [head(7)];
  for (let ms = 1_000; ms < 9_000; ms += 500) expect(numberAt(ms)).toBe(10);
});

test('another hash at a height that was seen is a reorg: the head follows it, even down', () => {
  forks.b = 9;
  const { chain, numberAt } = chainOf(1_000);
  for (const number of [8, 9, 10]) {
    chain.heads = [head(number)];
    numberAt(number * 2_000);
  }
  chain.heads = [head(9, 'b')];
  expect(numberAt(30_000)).toBe(9);
  chain.heads = [head(10, 'b')];
  expect(numberAt(32_000)).toBe(10);
});

test('another hash at the same height is followed too', () => {
  const { chain, tracked, numberAt } = chainOf(1_000);
  numberAt(0);
  chain.heads = [head(1, 'b')];
  numberAt(2_000);
  expect(tracked.current?.block.hash).toBe('0xb1');
});

test('a chain that stays behind for long was rolled back', () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(10)];
  numberAt(0);
  chain.heads = [head(6)];
  expect(numberAt(2_000)).toBe(10);
  expect(numberAt(11_999)).toBe(10);
  expect(numberAt(13_000)).toBe(6);
});

test('when the first node is stuck and a block is overdue, the highest of all nodes counts', () => {
  const { chain, numberAt } = chainOf(1_000);
  chain.heads = [head(5), head(5), head(5)];
  expect(numberAt(0)).toBe(5);
  chain.heads = [head(5), head(8), head(7)];
  expect(numberAt(1_000)).toBe(5);
  expect(numberAt(2_600)).toBe(8);
});

test('a rejected head that was never read gives way to the one before', () => {
  const { chain, tracked, numberAt } = chainOf(1_000);
  numberAt(0);
  chain.heads = [head(1_000_000, 'f')];
  numberAt(2_000);
  tracked.reject(head(1_000_000, 'f'));
  expect(tracked.current?.block.number).toBe(1n);
  expect(tracked.announced).toBeUndefined();
  chain.heads = [head(2)];
  expect(numberAt(2_001)).toBe(2);
});

test('a rejected head that was read stays until a higher one, or another in its place, comes', () => {
  const { chain, tracked, numberAt } = chainOf(1_000);
  numberAt(0);
  chain.heads = [head(2)];
  numberAt(2_000);
  tracked.read(head(2));
  // The next node is behind.
  chain.heads = [head(1)];
  const { polls } = chain;
  for (let times = 0; times < 10; times += 1) tracked.reject(head(2));
  expect(tracked.announced).toBeUndefined();
  for (const ms of [2_001, 2_600, 3_200]) expect(numberAt(ms)).toBe(2);
  // Refusals make polls due, but start none.
  expect(chain.polls - polls).toBeLessThanOrEqual(3);
  chain.heads = [head(2, 'b')];
  numberAt(4_000);
  expect(tracked.current?.block.hash).toBe('0xb2');
});

test('a rejected head comes back when a read at it arrives late, unless a higher one was taken', () => {
  const { chain, tracked, numberAt } = chainOf(1_000);
  numberAt(0);
  chain.heads = [head(2)];
  numberAt(2_000);
  tracked.reject(head(2));
  tracked.read(head(2));
  expect(tracked.current?.block.number).toBe(2n);
  chain.heads = [head(3)];
  expect(numberAt(2_001)).toBe(3);
  tracked.reject(head(3));
  chain.heads = [head(4)];
  expect(numberAt(2_002)).toBe(4);
  tracked.read(head(3));
  expect(tracked.current?.block.number).toBe(4n);
  // So does one of several.
  chain.heads = [head(5)];
  numberAt(3_000);
  tracked.reject(head(5));
  chain.heads = [head(6)];
  numberAt(3_001);
  tracked.reject(head(6));
  tracked.read(head(5));
  expect(tracked.current?.block.number).toBe(5n);
});

test('a listener gets each head that is taken, and from where blocks were replaced', () => {
  forks.b = 2;
  const { chain, numberAt, names } = chainOf(1_000);
  numberAt(0);
  for (const [ms, number, fork] of [
    [1_000, 2, 'a'],
    [2_000, 3, 'a'],
    [3_000, 3, 'a'],
    [5_000, 2, 'b'],
    [6_000, 4, 'b'],
  ] as const) {
    chain.heads = [head(number, fork)];
    numberAt(ms);
  }
  expect(names).toEqual(['a1', 'a2', 'a3', 'b2 from 2', 'b4']);
});

test('a chain that was rolled back is reported as replaced above its new head', () => {
  const { chain, numberAt, names } = chainOf(1_000);
  for (const number of [5, 6, 7]) {
    chain.heads = [head(number)];
    numberAt(number * 2_000);
  }
  chain.heads = [head(5)];
  numberAt(16_000);
  numberAt(27_000);
  expect(names).toEqual(['a5', 'a6', 'a7', 'a5 from 6']);
});

test('a head at which nodes refused reads is reported as replaced when another takes its place', () => {
  forks.b = 2;
  const { chain, tracked, numberAt, names } = chainOf(1_000);
  numberAt(0);
  chain.heads = [head(2, 'b')];
  numberAt(2_000);
  tracked.reject(head(2, 'b'));
  chain.heads = [head(2)];
  numberAt(2_001);
  expect(names).toEqual(['a1', 'b2', 'a2 from 2']);
});

test('while heads are pushed the chain is not polled, and half a second after a block is missing it is', () => {
  const { chain, tracked, advanceTo, numberAt } = chainOf(1_000);
  for (let number = 1; number <= 20; number += 1) {
    advanceTo(number * 1_000);
    tracked.push(head(number));
    expect(numberAt(number * 1_000 + 900)).toBe(number);
  }
  expect(chain.polls).toBe(0);
  chain.heads = [head(23)];
  chain.delayMs = 1;
  expect(numberAt(21_500)).toBe(20);
  // Both blocks below it are looked up, too.
  advanceTo(21_503);
  expect(tracked.current?.block.number).toBe(23n);
  // It is back, with a head that was looked up already.
  tracked.push(head(23));
  expect(numberAt(22_900)).toBe(23);
  expect(chain.polls).toBe(1);
});

test('a head that is pushed too early is taken when its time has come, and shows what was replaced meanwhile', () => {
  forks.b = 7;
  const { tracked, advanceTo, numberAt, names } = chainOf(1_000);
  tracked.push(head(7));
  for (const [ms, number, fork] of [
    [100, 8, 'a'],
    [200, 7, 'b'],
    [300, 9, 'b'],
    [400, 8, 'b'],
  ] as const) {
    advanceTo(ms);
    tracked.push(head(number, fork));
  }
  expect(numberAt(499)).toBe(7);
  expect(numberAt(500)).toBe(9);
  expect(names).toEqual(['a7', 'b9 from 7']);
});

test('a socket that lags never takes the head back', () => {
  const { chain, tracked, advanceTo, numberAt } = chainOf(1_000);
  chain.heads = [head(100)];
  numberAt(0);
  for (let ms = 0; ms < 30_000; ms += 1_000) {
    advanceTo(ms);
    tracked.push(head(50 + ms / 1_000));
  }
  expect(tracked.current?.block.number).toBe(100n);
});

test('a head that waited in a socket counts by the age of its block', () => {
  const { chain, tracked, advanceTo, numberAt } = chainOf(1_000);
  chain.wallMs = 20_500;
  tracked.push(head(20));
  expect([numberAt(1_400), chain.polls]).toEqual([20, 0]);
  // The process was paused for ten seconds, and reads what came meanwhile.
  advanceTo(11_400);
  chain.wallMs += 10_000;
  chain.heads = [head(30)];
  for (const number of [21, 22, 23]) tracked.push(head(number));
  expect(tracked.announced).toBeUndefined();
  expect(numberAt(11_400)).toBe(30);
});

test('a height that another process took makes a poll due, of all nodes if the first one is behind', () => {
  const { chain, tracked, numberAt } = chainOf(12_000);
  numberAt(0);
  expect(numberAt(1_000)).toBe(1);
  chain.heads = [head(1), head(2)];
  tracked.hear(2);
  expect(numberAt(1_000)).toBe(2);
  const stop = tracked.watch();
  const { polls } = chain;
  // Nothing is taken that nodes do not give, and they are polled as ever.
  tracked.hear(3);
  expect(numberAt(5_000)).toBe(2);
  expect(chain.polls - polls).toBeLessThanOrEqual(8);
  stop();
});

test('a head that another process took is taken at once, one below it when its time has come', () => {
  const { tracked, advanceTo } = chainOf(200);
  tracked.push(head(1));
  advanceTo(100);
  tracked.hear(3);
  tracked.push(head(2));
  expect(tracked.current).toEqual(head(1));
  tracked.push(head(3));
  expect(tracked.current?.block.number).toBe(3n);
  advanceTo(200);
  tracked.push(head(4));
  tracked.hear(4);
  // No more than one early in half a second.
  expect(tracked.current?.block.number).toBe(3n);
  advanceTo(700);
  tracked.hear(5);
  tracked.push(head(5));
  expect(tracked.current?.block.number).toBe(5n);
});

test('a chain that stands still is not polled more often for those who ask', () => {
  const { chain, numberAt } = chainOf(1_000);
  for (let ms = 0; ms < 2_000; ms += 10) numberAt(ms);
  expect(chain.polls).toBeLessThanOrEqual(4);
});

test('a chain that is watched is polled without a request, and after failures, as long as anyone watches', () => {
  const { chain, tracked, advanceTo } = chainOf(1_000);
  const advance = (ms: number) => {
    for (const end = chain.ms + ms; chain.ms < end; ) {
      chain.heads = [head(Math.floor((chain.ms + 50) / 1_000))];
      advanceTo(chain.ms + 50);
    }
  };
  const stops = [tracked.watch(), tracked.watch()];
  advance(5_500);
  expect(tracked.current?.block.number).toBe(5n);
  chain.isDown = true;
  const { polls } = chain;
  advance(5_000);
  expect(chain.polls - polls).toBeLessThanOrEqual(10);
  chain.isDown = false;
  advance(1_000);
  expect(tracked.current?.block.number).toBe(11n);
  stops[0]?.();
  advance(1_000);
  expect(tracked.current?.block.number).toBe(12n);
  stops[1]?.();
  advance(5_000);
  expect([tracked.current?.block.number, tracked.isWoken]).toEqual([12n, false]);
});

test('a block that replaced the one before a rejected head is taken, also at its height', () => {
  const { chain, tracked, advanceTo, numberAt } = chainOf(1_000);
  for (const number of [2, 3, 4]) {
    advanceTo(chain.ms + 500);
    tracked.push(head(number));
  }
  chain.heads = [head(2, 'b')];
  numberAt(4_000);
  expect(tracked.current?.block.hash).toBe('0xb2');
  tracked.reject(head(2, 'b'));
  expect(tracked.current?.block.hash).toBe('0xa4');
  chain.heads = [head(4, 'c')];
  numberAt(5_000);
  expect(tracked.current?.block.hash).toBe('0xc4');
});

const step = fc.record({
  wait: fc.integer({ min: 0, max: 1_500 }),
  delayMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 700 })),
  mined: fc.integer({ min: 0, max: 2 }),
  replaced: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) },
  ),
  does: fc.constantFrom('push', 'ask', 'lag', 'fail', 'read', 'read late', 'reject', 'hear', 'nothing'),
});

test('property: heads keep their distance and age, and go back only with the chain or unread, from where branches part', () => {
  let kept = 0;
  const blockTimeMs = 1_000;
  fc.assert(
    fc.property(fc.boolean(), fc.array(step, { maxLength: 60 }), (isWatched, steps) => {
      for (const fork of Object.keys(forks)) delete forks[fork];
      const { chain, tracked, advanceTo } = chainOf(blockTimeMs);
      const blocks = [head(1)];
      let fork = 'a';
      let last = head(0);
      let first: bigint | undefined;
      let lastBranch = ChainTail.EMPTY;
      let heard = 1_000n;
      let read: Head | undefined;
      let rejected: Head | undefined;
      tracked.onTaken((next, branch, before) => {
        if (before.behindSince !== undefined) read = undefined;
        const from = lastBranch.replacedFrom(branch);
        lastBranch = branch;
        if (next.block.number < heard) expect(tracked.takenAt - before.takenAt).toBeGreaterThanOrEqual(500);
        // Its parent is known too. After an unknown height, who listens knows of no block below.
        if (first === undefined || from === UNKNOWN_HEIGHT) first = next.block.number - 1n;
        const replaced = replacedBetween(last, next);
        // What lies below the first head may be known, as parents of later ones.
        if (!chain.hasFailed || from !== UNKNOWN_HEIGHT) {
          expect(from === null).toBe(replaced === null);
          expect(from ?? 0n).toBeGreaterThanOrEqual(replaced ?? 0n);
          expect(from ?? 0n).toBeLessThanOrEqual(maxBigint(replaced ?? 0n, first));
        }
        chain.hasFailed = false;
        last = next;
      });
      const stop = isWatched ? tracked.watch() : () => undefined;
      for (const { wait, delayMs, mined, replaced, does } of steps) {
        chain.delayMs = delayMs;
        for (const end = chain.ms + wait; chain.ms < end; ) {
          advanceTo(Math.min(end, chain.ms + 50));
          if (tracked.announced) expect(chain.ms - chain.reportedAt).toBeLessThanOrEqual(blockTimeMs + 1_000);
        }
        if (replaced > 0) {
          fork = String.fromCharCode(fork.charCodeAt(0) + 1);
          blocks.splice(Math.max(1, blocks.length - replaced));
          forks[fork] = blocks.length + 1;
        }
        for (let i = replaced > 0 ? -1 : 0; i < mined; i += 1) blocks.push(head(blocks.length + 1, fork));
        const newest = blocks.at(-1) ?? head(1);
        chain.heads = [does === 'lag' ? (blocks.at(-3) ?? newest) : newest];
        chain.isDown = does === 'fail';
        if (does === 'push') tracked.push(newest);
        if (does === 'hear') {
          heard = newest.block.number;
          tracked.hear(Number(heard));
        }
        const { current } = tracked;
        if (does === 'reject' && current) {
          rejected = current;
          tracked.reject(current);
        }
        const answered = does === 'read' ? current : does === 'read late' ? rejected : undefined;
        if (answered) tracked.read(answered);
        if (answered && answered.block.hash === tracked.current?.block.hash) read = answered;
        if (does === 'ask' || does === 'lag') tracked.ask();
        if (read && (tracked.current?.block.number ?? 0n) < read.block.number)
          expect(blocks[Number(read.block.number) - 1]?.block.hash).not.toBe(read.block.hash);
        if (rejected && read === rejected) kept += 1;
      }
      // Once the chain stands still, everyone gets to its head.
      chain.isDown = false;
      chain.delayMs = 0;
      chain.heads = [blocks.at(-1) ?? head(1)];
      for (const ms of [20_000, 20_000]) {
        advanceTo(chain.ms + ms);
        tracked.ask();
      }
      expect(tracked.current?.block.hash).toBe(chain.heads[0]?.block.hash);
      stop();
      expect(tracked.isWoken).toBe(false);
    }),
    { numRuns: runs(200) },
  );
  expect(kept).toBeGreaterThan(3);
});
