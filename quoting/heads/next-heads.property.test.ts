import fc from 'fast-check';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { maxBigint } from '../../protocol/fixed-point.ts';
import { assertUntil } from '../../test/harness/assert-until.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { ChainTail, UNKNOWN_HEIGHT } from './chain-tail.ts';
import { chainOf } from './driven-heads.fixture.ts';
import { forgetForks, forks, type Head, head, replacedBetween } from './test-chain.fixture.ts';

const BLOCK_TIME_MS = 1_000;

const step = fc.record({
  wait: fc.integer({ min: 0, max: 1_500 }),
  delayMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 700 })),
  mined: fc.integer({ min: 0, max: 2 }),
  replaced: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) },
  ),
  does: fc.constantFrom(
    'push',
    'ask',
    'lag',
    'fail',
    'read',
    'read late',
    'reject',
    'hear',
    'push replaced',
    'nothing',
  ),
});

/** Blocks that are mined, and replaced by a branch of one block more. */
class MinedBlocks {
  readonly #blocks = [head(1)];
  #fork = 'a';
  /** The highest block that was replaced last. */
  replaced: Head | undefined;

  get newest(): Head {
    return this.#blocks.at(-1) ?? head(1);
  }

  /** What a node gives that is two blocks behind. */
  get late(): Head {
    return this.#blocks.at(-3) ?? this.newest;
  }

  has({ block }: Head): boolean {
    return this.#blocks[Number(block.number) - 1]?.block.hash === block.hash;
  }

  mine(mined: number, replaced: number): void {
    if (replaced > 0) {
      this.#fork = String.fromCharCode(this.#fork.charCodeAt(0) + 1);
      this.replaced = this.#blocks.splice(Math.max(1, this.#blocks.length - replaced)).at(-1);
      forks[this.#fork] = this.#blocks.length + 1;
    }
    for (let i = replaced > 0 ? -1 : 0; i < mined; i += 1) this.#blocks.push(head(this.#blocks.length + 1, this.#fork));
  }
}

/**
 * Expects each head that is taken to keep its distance from the one before, and to say from where blocks were replaced.
 *
 * @param heard gives the height that another process took last
 */
function expectTakenInTime({ chain, tracked }: ReturnType<typeof chainOf>, heard: () => bigint): void {
  let last = head(0);
  let first: bigint | undefined;
  let lastBranch = ChainTail.EMPTY;
  tracked.onTaken((next, branch, before) => {
    const from = lastBranch.replacedFrom(branch);
    lastBranch = branch;
    if (next.block.number < heard()) expect(tracked.takenAt - before.takenAt).toBeGreaterThanOrEqual(500);
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
}

/** Lets time pass; expects no head to be announced beyond its time. */
function wait({ chain, tracked, advanceTo }: ReturnType<typeof chainOf>, ms: number): void {
  for (const end = chain.ms + ms; chain.ms < end; ) {
    advanceTo(Math.min(end, chain.ms + 50));
    if (tracked.announced) expect(chain.ms - chain.reportedAt).toBeLessThanOrEqual(BLOCK_TIME_MS + 1_000);
  }
}

/** Once the chain stands still, everyone gets to its head. */
function expectCaughtUp({ chain, tracked, advanceTo }: ReturnType<typeof chainOf>, newest: Head): void {
  Object.assign(chain, { isDown: false, delayMs: 0, heads: [newest] });
  for (const ms of [20_000, 20_000]) {
    advanceTo(chain.ms + ms);
    tracked.ask();
  }
  expect(tracked.current?.block.hash).toBe(newest.block.hash);
}

test('property: heads keep their distance and age, and go back only with the chain or unread, from where branches part', async () => {
  let kept = 0;
  await assertUntil(
    () => kept > 3,
    fc.property(fc.boolean(), fc.array(step, { maxLength: 60 }), (isWatched, steps) => {
      forgetForks();
      const driven = chainOf(BLOCK_TIME_MS);
      const { chain, tracked } = driven;
      const blocks = new MinedBlocks();
      let heard = 1_000n;
      let read: Head | undefined;
      let rejected: Head | undefined;
      const taken = new Set<Hex>();
      tracked.onTaken((head, _branch, before) => {
        taken.add(head.block.hash);
        if (before.behindSince !== undefined) read = undefined;
      });
      expectTakenInTime(driven, () => heard);
      const stop = isWatched ? tracked.watch() : () => undefined;
      for (const { wait: ms, delayMs, mined, replaced, does } of steps) {
        chain.delayMs = delayMs;
        wait(driven, ms);
        blocks.mine(mined, replaced);
        chain.heads = [does === 'lag' ? blocks.late : blocks.newest];
        chain.isDown = does === 'fail';
        if (does === 'push') tracked.push(blocks.newest);
        // One that was never a head here cannot be told from one that replaces others.
        if (does === 'push replaced' && blocks.replaced && taken.has(blocks.replaced.block.hash))
          tracked.push(blocks.replaced);
        if (does === 'hear') {
          heard = blocks.newest.block.number;
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
        if (read && (tracked.current?.block.number ?? 0n) < read.block.number) expect(blocks.has(read)).toBe(false);
        if (rejected && read === rejected) kept += 1;
      }
      expectCaughtUp(driven, blocks.newest);
      stop();
      expect(tracked.isWoken).toBe(false);
    }),
    { numRuns: runs(200) },
  );
});
