import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plainFact } from './facts.ts';
import { type Change, sumsAt } from './last-agreement.ts';

const LOWEST_BIN = -1;
const BINS = 3;

const amount = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String);
const change: fc.Arbitrary<Change> = fc.record({
  block: fc.nat(9),
  bin: fc.option(fc.integer({ min: LOWEST_BIN, max: LOWEST_BIN + BINS - 1 })),
  token0: amount,
  token1: amount,
  shares: amount,
  fee0: amount,
  fee1: amount,
});

/** Sums of what changes made, each bin's and those of fees. */
function sumsOf(changes: readonly Change[]) {
  const sum = (of: readonly Change[], amountOf: (change: Change) => string | null) =>
    of.reduce((total, each) => total + BigInt(amountOf(each) ?? 0), 0n);
  const perBin = (amountOf: (change: Change) => string) =>
    Array.from({ length: BINS }, (_, place) =>
      sum(
        changes.filter(({ bin }) => bin === LOWEST_BIN + place),
        amountOf,
      ),
    ).join();
  return {
    binBalances0: perBin(({ token0 }) => token0),
    binBalances1: perBin(({ token1 }) => token1),
    shares: perBin(({ shares }) => shares),
    accruedNotionalFees: [sum(changes, ({ fee0 }) => fee0), sum(changes, ({ fee1 }) => fee1)].join(' '),
  };
}

const factsOf = ({ binBalances0, binBalances1, shares, accruedNotionalFees }: ReturnType<typeof sumsOf>) => ({
  binBalances0: plainFact('binBalances0', binBalances0),
  binBalances1: plainFact('binBalances1', binBalances1),
  shares: plainFact('shares', shares),
  accruedNotionalFees: plainFact('accruedNotionalFees', accruedNotionalFees),
});

it('sums without later changes are those of the earlier ones', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), fc.nat(9), (changes, block) => {
      const [earlier, later] = [
        changes.filter((each) => each.block <= block),
        changes.filter((each) => each.block > block),
      ];
      expect(sumsAt(factsOf(sumsOf(changes)), later, LOWEST_BIN)).toEqual(sumsOf(earlier));
    }),
  );
});

it('packed pools have no accrued notional fees', () => {
  const { accruedNotionalFees: _, ...facts } = factsOf(sumsOf([]));
  expect(sumsAt(facts, [], LOWEST_BIN)).toEqual({ binBalances0: '0,0,0', binBalances1: '0,0,0', shares: '0,0,0' });
});
