import fc from 'fast-check';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import type { BlockRef } from '../../chain/read-context.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { ChainTail } from '../heads/chain-tail.ts';
import type { Heads } from '../heads/heads.ts';
import { targetOf } from './target-block.ts';

const hash: Hex = `0x${'0a'.repeat(32)}`;

function chainAt(top: bigint, listening: Partial<Pick<Heads, 'onHead'>> = {}) {
  const heads = { top, isPassed: false, ...listening };
  const chain = { blockTimeMs: 2_000, heads };
  /** The block number of a frame that was read at a block, with or without overrides of a later one. */
  const numberOf = (number: bigint, pendingNumber?: bigint): bigint => {
    const block = { number, hash, timestamp: 2n * number, parents: [] };
    const pending = { timestamp: 0n, overrides: new Map(), digest: '', receivedAt: 0 };
    const ref = pendingNumber === undefined ? block : { ...block, pending: { ...pending, blockNumber: pendingNumber } };
    return targetOf(ref as BlockRef, chain).blockNumber;
  };
  return { heads, numberOf };
}

test('when the overrides of the block after the next end, frames go on to name that block', () => {
  const { heads, numberOf } = chainAt(609n);
  expect([numberOf(609n), numberOf(609n, 611n), numberOf(609n), numberOf(609n, 610n)]).toEqual([
    610n,
    611n,
    611n,
    611n,
  ]);
  heads.top = 611n;
  expect([numberOf(610n, 611n), numberOf(611n)]).toEqual([611n, 612n]);
});

test('after the chain went back frames name the block that is being built', () => {
  const { heads, numberOf } = chainAt(609n);
  numberOf(609n);
  heads.top = 500n;
  expect(numberOf(500n)).toBe(501n);
});

test('what was named above a chain that went back counts no more, though nobody read meanwhile', () => {
  let headChanged: Parameters<Heads['onHead']>[0] | undefined;
  const onHead: Heads['onHead'] = (listener) => {
    headChanged = listener;
    return () => undefined;
  };
  const { heads, numberOf } = chainAt(609n, { onHead });
  expect(numberOf(609n)).toBe(610n);
  for (const top of [606n, 608n]) {
    heads.top = top;
    headChanged?.({ block: { number: top, hash, timestamp: 0n, parents: [] }, endpoint: null }, ChainTail.EMPTY);
  }
  expect(numberOf(608n)).toBe(609n);
});

const step = fc.record({
  by: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0n, 0n, 1n, 2n) }, fc.constantFrom(-1n, -3n, -20n)),
  below: fc.bigInt(0n, 2n),
  ahead: fc.option(fc.bigInt(1n, 2n), { nil: undefined }),
});

test('whatever is read, the number of frames goes back only when the chain does', () => {
  let kept = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
      const { heads, numberOf } = chainAt(1_000n);
      let last = 0n;
      for (const { by, below, ahead } of steps) {
        heads.top += by;
        if (by < 0n) last = 0n;
        const number = heads.top - below;
        const read = number + (ahead ?? 1n);
        const shown = numberOf(number, ahead && read);
        if (shown > read) kept += 1;
        expect(shown).toBeGreaterThanOrEqual(last);
        expect(shown).toBeGreaterThanOrEqual(read);
        expect(shown).toBeLessThanOrEqual(heads.top + 2n);
        last = shown;
      }
    }),
    { numRuns: runs(300) },
  );
  expect(kept).toBeGreaterThan(500);
});
