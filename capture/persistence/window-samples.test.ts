import { expect, test } from 'vitest';
import type { BlockHeader } from '../../chain/read-context.ts';
import type { QuotedCurve } from '../quote-reader.ts';
import { WITHDRAWN_E6 } from './compare-quotes.ts';
import type { LiveQuote, LiveRead } from './live-quotes.ts';
import type { QuotesRead } from './read-quotes.ts';
import { sampleOf, type WindowReads } from './window-samples.ts';

const POOL = '0x00000000000000000000000000000000000000aa';
const INPUT = 1_000_000n;
const DEPTH = 20n * INPUT;

/** A pool that pays this for a million units. */
function paying(output: bigint, hasLivePrice = false): QuotedCurve {
  const side = { outputOf: (input: bigint) => (input * output) / INPUT, outputWithin: () => 10n * output };
  const level = { bin: 0, priceX64: 1n, cumulativeInput: DEPTH, cumulativeOutput: 20n * output, priceImpactE6: 0n };
  const curve = { bids: side, asks: side } as unknown as QuotedCurve['curve'];
  const trading = { bids: [level], asks: [level] };
  return { curve, trading, bidX64: 1n, askX64: 1n, block: {} as QuotedCurve['block'], hasLivePrice };
}

const quotes = (quote?: QuotedCurve | null): QuotesRead => new Map(quote === undefined ? [] : [[POOL, quote]]);
const blocks = [10n, 11n, 12n, 15n].map((number) => ({ number }) as BlockHeader);
const part = (number: bigint, quote: LiveQuote): LiveRead => ({ number, quotes: new Map([[POOL, quote]]) });
const overridden = (number: bigint, quote: LiveQuote = 'committed'): LiveRead => part(number, quote);
const unread = (number: bigint): LiveRead => ({ number, quotes: new Map() });

/** What became of a million units sold, by horizon, and of the depth. */
function soldIn(reads: readonly (QuotedCurve | null | undefined)[], live: Partial<WindowReads['live']> = {}) {
  const window = { blocks, reads: reads.map(quotes), live: { shown: null, later: [null, null] as const, ...live } };
  const sample = sampleOf(POOL, window, { bids: [INPUT, null], asks: [null, null] });
  return sample && [...sample.bids.changesE6.filter((_, place) => place % 3 === 0), sample.bids.goneE6];
}

const [shown, worse, better] = [paying(1_000_000n), paying(999_000n), paying(1_001_000n)];

test('without live prices blocks alone are compared, and depth with the next one', () => {
  expect(soldIn([shown, worse, better, null])).toEqual([1_000, -1_000, WITHDRAWN_E6, null, null, 1_000]);
  expect(soldIn([shown, undefined, undefined, undefined])).toBeNull();
  expect(soldIn([undefined, shown, shown, shown])).toBeNull();
  expect(soldIn([null, shown, shown, shown])).toBeNull();
});

test('after parts, all pools are what they are there, and depth is compared with the earliest part of the next block', () => {
  const same = [shown, shown, shown, shown];
  const first = part(10n, worse);
  // A maker that is better in the last part alone: its depth is gone, and nothing that is shown from then on changes.
  expect(soldIn(same, { shown: first, later: [first, first] })).toEqual([0, 0, 0, 0, 0, 1_000]);
  expect(soldIn(same, { shown: first, later: [part(10n, shown), part(11n, better)] })).toEqual([
    0, 0, 0, -1_001, -2_002, 1_000,
  ]);
  expect(soldIn(same, { shown: first, later: [part(10n, null), null] })).toEqual([0, 0, 0, WITHDRAWN_E6, null, 1_000]);
  expect(soldIn(same, { shown: unread(10n), later: [first, null] })).toEqual([0, 0, 0, null, null, 1_000]);
  // The next block was over when it was looked at.
  const over = { shown: part(11n, worse), later: [part(11n, better), null] as const };
  expect(soldIn([shown, worse, undefined, undefined], over)).toEqual([1_000, null, null, -2_002, null, 1_000]);
});

test('a pool whose price no override makes is then what it is at the committed block', () => {
  const live = { later: [overridden(10n), overridden(12n)] as const };
  expect(soldIn([shown, worse, better, shown], live)).toEqual([1_000, -1_000, 0, 0, -1_000, 1_000]);
});

test('a pool whose quotes of the block were not read has no sample, whatever its live quotes', () => {
  const live = { shown: overridden(10n, paying(1_000_000n, true)), later: [overridden(10n, worse), null] as const };
  expect(soldIn([undefined, shown, shown, shown], live)).toBeNull();
});

test('a pool without a committed price is compared with its live quotes, and blocks that it does not trade at say nothing', () => {
  const live = {
    shown: overridden(10n, paying(1_000_000n, true)),
    later: [overridden(10n, paying(999_500n, true)), overridden(10n)] as const,
  };
  expect(soldIn([null, null, better, null], live)).toEqual([null, -1_000, null, 500, WITHDRAWN_E6, 500]);
});

test('a pool with a committed price too is compared live to live, where it was read', () => {
  const committed = paying(990_000n);
  const live = {
    shown: overridden(10n, paying(1_000_000n, true)),
    later: [overridden(10n, paying(999_500n, true)), unread(10n)] as const,
  };
  // Depth of the block is compared: what is shown live in the next one is better.
  expect(soldIn(Array(4).fill(committed), live)).toEqual([0, 0, 0, 500, null, 0]);
  const late = { shown: unread(10n), later: [overridden(10n, paying(999_500n, true)), null] as const };
  expect(soldIn(Array(4).fill(committed), late)).toEqual([0, 0, 0, null, null, 0]);
});
