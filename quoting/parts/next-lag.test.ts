import fc from 'fast-check';
import { type Hex, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import type { PartView } from '../../chain/pending-state.ts';
import { LAG_BLOCKS, type LagState, noLag, withSealed, withShown } from './next-lag.ts';

const hashOf = (number: bigint): Hex => numberToHex(number, { size: 32 });
const viewOf = (blockNumber: bigint, feesWei: bigint, hasParent = true): PartView => ({
  blockNumber,
  timestamp: 1_000n + 2n * blockNumber,
  parentHash: hasParent ? hashOf(blockNumber - 1n) : null,
  feesWei,
});
const sealedOf = (number: bigint, feesWei: bigint) => ({ number, hash: hashOf(number), feesWei });

/** A node whose parts are shown one after the other. */
class Shown {
  state: LagState = noLag;
  #last: PartView | undefined;

  /** @returns whether the part is refused */
  show(view: PartView, hasHead = true): boolean {
    const parent = hasHead ? hashOf(view.blockNumber - 1n) : null;
    const [state, isLagging] = withShown(this.state, { view, parent, last: this.#last });
    this.state = state;
    if (!isLagging) this.#last = view;
    return isLagging;
  }

  seal(number: bigint, feesWei: bigint): void {
    this.state = withSealed(this.state, sealedOf(number, feesWei));
  }
}

/** Shows blocks from the tenth on, each with a part of these fees, of a chain in whose blocks as much is paid. */
function showBlocks(shown: Shown, blocks: number, feesOf: (number: bigint) => bigint, paidWei = 100n) {
  shown.seal(9n, 9n * paidWei);
  return Array.from({ length: blocks }, (_, index) => {
    const number = 10n + BigInt(index);
    const isRefused = shown.show(viewOf(number, feesOf(number)));
    shown.seal(number, number * paidWei);
    return isRefused;
  });
}

const repeat = (isRefused: boolean, times: number) => Array.from({ length: times }, () => isRefused);

test('a node that gives the state of the head in the next block is used for three blocks, then no more', () => {
  const refused = showBlocks(new Shown(), 1_000, (number) => (number - 1n) * 100n);
  expect(refused).toEqual([...repeat(false, LAG_BLOCKS), ...repeat(true, 1_000 - LAG_BLOCKS)]);
});

test('while it lags, a part with more fees than its parent is used, and after that block all are', () => {
  const shown = new Shown();
  showBlocks(shown, LAG_BLOCKS, (number) => (number - 1n) * 100n);
  const next = 10n + BigInt(LAG_BLOCKS);
  const parentFees = (next - 1n) * 100n;
  expect([shown.show(viewOf(next, parentFees)), shown.show(viewOf(next, parentFees + 1n))]).toEqual([true, false]);
  // Nobody knows yet what the next block is built on.
  expect(shown.show(viewOf(next + 1n, parentFees + 5n), false)).toBe(true);
  shown.seal(next, parentFees + 5n);
  expect(shown.show(viewOf(next + 1n, parentFees + 5n))).toBe(false);
});

test('blocks in which nothing pays fees say nothing of a node', () => {
  const shown = new Shown();
  expect(showBlocks(shown, 10, () => 0n, 0n)).toEqual(repeat(false, 10));
  expect(shown.state.blocks).toBe(0);
});

test('a part with less fees than its parent is refused, and that node is to show more', () => {
  const shown = new Shown();
  expect(showBlocks(shown, 10, (number) => (number - 3n) * 100n)).toEqual(repeat(true, 10));
  expect(shown.show(viewOf(20n, 1_900n))).toBe(true);
  expect(shown.show(viewOf(20n, 1_901n))).toBe(false);
});

test('until the fees of the parent are known, a part has no less than the one that is used', () => {
  const shown = new Shown();
  expect(shown.show(viewOf(10n, 1_000n))).toBe(false);
  const stuck = [11n, 12n, 13n].map((number) => shown.show(viewOf(number, 100n)));
  expect(stuck).toEqual(repeat(true, 3));
  // Fees were withdrawn in a block: then they are less in the next one.
  shown.seal(13n, 50n);
  expect(shown.show(viewOf(14n, 50n))).toBe(false);
});

test('a block of which no part was shown, or whose parent is not known, says nothing', () => {
  const shown = new Shown();
  for (let number = 10n; number < 20n; number += 1n) shown.seal(number, number * 100n);
  shown.state = { ...shown.state, sealed: [] };
  for (let number = 20n; number < 40n; number += 2n) {
    shown.show(viewOf(number, 0n));
    shown.seal(number, number * 100n);
  }
  expect(shown.state.blocks).toBe(0);
});

test('property: what is refused of an honest node is as in the block below, or it lagged before', () => {
  const blocks = fc.array(
    fc.record({
      paid: fc.array(fc.bigInt({ min: 0n, max: 2n }), { maxLength: 5 }),
      isLastShown: fc.boolean(),
      isKnown: fc.boolean(),
      hasParent: fc.boolean(),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(blocks, (all) => {
      const shown = new Shown();
      let [number, fees, isParentKnown] = [10n, 0n, false];
      for (const { paid, isLastShown, isKnown, hasParent } of all) {
        const parentFees = fees;
        for (const [index, wei] of [0n, ...paid].entries()) {
          fees += wei;
          if (index === paid.length && !isLastShown) continue;
          const lags = shown.state.blocks === LAG_BLOCKS;
          const isUnproven = lags && (fees === parentFees || !isParentKnown);
          expect(shown.show(viewOf(number, fees, hasParent))).toBe(isUnproven);
        }
        if (isKnown) shown.seal(number, fees);
        isParentKnown = isKnown;
        number += 1n;
      }
    }),
  );
});
