import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HORIZONS } from '../../db/listing/persistence.ts';
import { changeE6, compareQuotes, isKnown, type PoolQuote, WITHDRAWN_E6 } from './compare-quotes.ts';
import { inputsWorth } from './usd-inputs.ts';

const ONE = 1_000_000n;

/** A pool that pays `paysE6` millionths for each unit up to `reach` units, on both sides, with one level. */
function quoteOf(paysE6: bigint, reach: bigint): PoolQuote {
  const outputOf = (input: bigint) => (input * paysE6) / ONE;
  const level = {
    bin: 0,
    priceX64: 1n,
    cumulativeInput: reach,
    cumulativeOutput: outputOf(reach),
    priceImpactE6: 0n,
  };
  const side = { outputOf, outputWithin: () => outputOf(reach) };
  const curve = { bids: side, asks: side } as unknown as PoolQuote['curve'];
  return { curve, trading: { bids: [level], asks: [level] }, bidX64: paysE6, askX64: paysE6 };
}

/** A quote that is shown at a block and live. */
const both = (quote: PoolQuote) => ({ block: quote, live: quote });

const INPUTS = { bids: [10n * ONE, 100n * ONE], asks: [null, 50n * ONE] };

test('changes are against the taker, by horizon and amount; what was not read is null', () => {
  const shown = both(quoteOf(1_000_000n, 60n * ONE));
  const later = [quoteOf(999_900n, 60n * ONE), quoteOf(1_000_100n, 20n * ONE), null, undefined];
  const sample = compareQuotes(shown, later, later[0], INPUTS);
  const unread = [null, null, null];
  expect(sample).toEqual({
    bids: {
      changesE6: [100, null, 100, -100, null, -100, WITHDRAWN_E6, null, WITHDRAWN_E6, ...unread, ...unread],
      goneE6: 100,
    },
    asks: {
      changesE6: [null, 100, 100, null, WITHDRAWN_E6, -100, null, WITHDRAWN_E6, WITHDRAWN_E6, ...unread, ...unread],
      goneE6: 100,
    },
  });
  expect(isKnown(sample)).toBe(true);
  expect(isKnown(compareQuotes(shown, [], undefined, INPUTS))).toBe(false);
});

test('a quote whose curve is not known between levels later is not withdrawn, unless its side ends before', () => {
  const shown = quoteOf(1_000_000n, 60n * ONE);
  const measured = quoteOf(1_000_000n, 40n * ONE);
  const unknown = { ...measured.curve.bids, outputOf: null };
  const later = { ...measured, curve: { bids: unknown, asks: unknown } };
  const { bids } = compareQuotes(both(shown), [later], later, { bids: [10n * ONE, 50n * ONE], asks: [] });
  expect(bids.changesE6.slice(0, 3)).toEqual([null, WITHDRAWN_E6, null]);
});

test('depth that is shown and gone is a part of what was shown', () => {
  const shown = both(quoteOf(1_000_000n, 60n * ONE));
  const goneTo = (reach: bigint) => compareQuotes(shown, [], quoteOf(1_000_000n, reach), INPUTS).bids.goneE6;
  expect([goneTo(60n * ONE), goneTo(90n * ONE), goneTo(45n * ONE), goneTo(0n)]).toEqual([0, 0, 250_000, 1_000_000]);
  expect(compareQuotes(shown, [], null, INPUTS).asks.goneE6).toBe(1_000_000);
});

test('a change is rounded up, and an unchanged quote changes by zero', () => {
  const amount = fc.bigInt({ min: 1n, max: 1n << 100n });
  const property = fc.property(amount, amount, (shown, later) => {
    const change = BigInt(changeE6(shown, later));
    const lost = (shown - later) * ONE;
    if (change > -1_000_000_000n) expect(change * shown >= lost && change * shown < lost + shown).toBe(true);
    else expect(lost <= change * shown).toBe(true);
    expect(changeE6(shown, shown)).toBe(0);
    expect(changeE6(shown, null)).toBe(WITHDRAWN_E6);
  });
  fc.assert(property);
});

test('a quote that stays as it is changes by zero at each horizon, whatever the amounts', () => {
  const amount = fc.bigInt({ min: 1n, max: 1n << 80n });
  const property = fc.property(amount, amount, amount, (pays, reach, input) => {
    const quote = quoteOf(pays, reach);
    const same = HORIZONS.map(() => quote);
    const { bids } = compareQuotes(both(quote), same, quote, { bids: [input, null], asks: [] });
    expect(bids.changesE6.every((change) => change === null || change === 0)).toBe(true);
    expect(bids.goneE6 ?? 0).toBe(0);
  });
  fc.assert(property);
});

test('amounts are worth whole dollars, rounded down', () => {
  expect(inputsWorth(2_000, 18)).toEqual([5n * 10n ** 17n, 5n * 10n ** 18n]);
  expect(inputsWorth(3, 6)).toEqual([333_333_333n, 3_333_333_333n]);
  expect([inputsWorth(0, 18), inputsWorth(null, 18), inputsWorth(1, null)].flat()).toEqual(Array(6).fill(null));
});
