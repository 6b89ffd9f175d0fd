import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  averagePrice,
  bestPoolExactIn,
  bestPoolExactOut,
  fromDecimalPrice,
  InsufficientDepthError,
  isTradable,
  type Level,
  MissingFieldError,
  maxIn,
  maxOut,
  quoteExactIn,
  quoteExactOut,
  type TradableQuote,
  toDecimalPrice,
} from '../math.ts';

const NOW_MS = 1_795_000_003_500;
const CLOSED_ASK = String(2n ** 128n - 1n);

const levels = (...pairs: [input: number, output: number][]) =>
  pairs.map(([input, output]) => ({ cumulativeInputVolume: String(input), cumulativeVolume: String(output) }));

function quoteOf(change: Partial<TradableQuote> = {}): TradableQuote {
  const depth = { bids: levels([100, 50], [300, 149]), asks: levels([60, 100]) };
  return { priceProviderStatus: 'healthy', bidAdj: '5', askAdj: '6', serverTs: 1_795_000_002, depth, ...change };
}

describe('fills', () => {
  const { bids = [] } = quoteOf().depth ?? {};

  test('interpolate volume within a level: outputs round down, inputs up', () => {
    expect(quoteExactIn(bids, 101n)).toEqual({ amountIn: 101n, amountOutFloor: 50n });
    expect(quoteExactIn(bids, 103n)).toEqual({ amountIn: 103n, amountOutFloor: 51n });
    expect(quoteExactOut(bids, 51n)).toEqual({ amountInCeil: 103n, amountOut: 51n });
    expect([maxIn(bids), maxOut(bids)]).toEqual([300n, 149n]);
  });

  test('beyond the depth of the side throw, with the most that it takes', () => {
    expect(() => quoteExactIn(bids, 301n)).toThrow(new InsufficientDepthError(301n, 300n));
    expect(() => quoteExactOut(bids, 150n)).toThrow(expect.objectContaining({ amount: 150n, max: 149n }));
    expect(() => quoteExactIn([], 1n)).toThrow('Amount 1 exceeds the depth of the side, which takes 0');
    expect(() => quoteExactIn(bids, -1n)).toThrow(RangeError);
  });
});

test.each([
  ['cumulativeInputVolume', () => quoteExactIn([{ cumulativeVolume: '1' } as Level], 1n)],
  ['cumulativeInputVolume', () => maxOut([...levels([1, 1]), { cumulativeVolume: '1' } as Level])],
  ['cumulativeVolume', () => quoteExactOut([{ cumulativeInputVolume: '1' } as Level], 1n)],
  ['bidAdj', () => isTradable({ ...quoteOf(), bidAdj: undefined } as unknown as TradableQuote, { maxAgeMs: 1 })],
  ['askAdj', () => isTradable({ ...quoteOf(), askAdj: null } as unknown as TradableQuote, { maxAgeMs: 1 })],
])('a body without %s says so', (field, read) => {
  expect(read).toThrow(new MissingFieldError(field));
  expect(read).toThrow(`${field} is missing: the service may be older than this client`);
});

describe('prices', () => {
  const decimals = fc.record({ decimalsIn: fc.nat({ max: 36 }), decimalsOut: fc.nat({ max: 36 }) });

  test('are exact in decimal, and come back from it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n }), fc.option(decimals, { nil: undefined }), (x64, tokens) => {
        const back = fromDecimalPrice(toDecimalPrice(x64, tokens), tokens);
        expect(back).toEqual({ floorX64: x64, ceilX64: x64 });
      }),
    );
  });

  test.each([
    ['1', 2n ** 64n, undefined],
    ['0.5', 2n ** 63n, undefined],
    ['0', 0n, undefined],
    ['1000000000000', 2n ** 64n, { decimalsIn: 18, decimalsOut: 6 }],
    ['0.000000000001', 2n ** 64n, { decimalsIn: 6, decimalsOut: 18 }],
    [String(10n ** 80n), 2n ** 64n, { decimalsIn: 80, decimalsOut: 0 }],
  ])('%s is %s', (decimal, x64, tokens) => {
    expect(toDecimalPrice(x64, tokens)).toBe(decimal);
    expect(fromDecimalPrice(decimal, tokens)).toEqual({ floorX64: x64, ceilX64: x64 });
  });

  test('that are not exact have both neighbours', () => {
    expect(fromDecimalPrice('0.1')).toEqual({ floorX64: 2n ** 64n / 10n, ceilX64: 2n ** 64n / 10n + 1n });
    expect(averagePrice({ amountIn: 3n, amountOutFloor: 1n }).ceilX64).toBe(2n ** 64n / 3n + 1n);
    expect(averagePrice({ amountInCeil: 1n, amountOut: 3n })).toEqual({ floorX64: 3n << 64n, ceilX64: 3n << 64n });
  });

  test.each(['', '-1', '1e3', '1.', '.5', ' 1', '0x1'])('%o is no price', (text) => {
    expect(() => fromDecimalPrice(text)).toThrow(SyntaxError);
  });

  test('of nothing or below 0 do not exist', () => {
    expect(() => averagePrice({ amountIn: 0n, amountOutFloor: 0n })).toThrow(RangeError);
    expect(() => toDecimalPrice(-1n)).toThrow(RangeError);
  });
});

test.each([
  ['healthy and young', {}, {}, true],
  ['too old', {}, { maxAgeMs: 1_499 }, false],
  ['from the future', { serverTs: 1_795_000_010 }, {}, false],
  ['not healthy', { priceProviderStatus: 'feed_down' }, {}, false],
  ['one side closed', { bidAdj: '0' }, {}, false],
  ['the other side closed', { bidAdj: '0' }, { side: 'asks' as const }, true],
  ['its side closed', { askAdj: CLOSED_ASK }, { side: 'asks' as const }, false],
])('a quote that is %s is tradable or not', (_, change, options, expected) => {
  expect(isTradable(quoteOf(change), { maxAgeMs: 1_500, nowMs: NOW_MS, ...options })).toBe(expected);
});

describe('the best pool', () => {
  const options = { maxAgeMs: 5_000, nowMs: NOW_MS };
  const deep = { id: 'deep', side: 'bids' as const, quote: quoteOf() };
  const better = { id: 'better', side: 'asks' as const, quote: quoteOf() };
  const old = { id: 'old', side: 'asks' as const, quote: quoteOf({ serverTs: 1 }) };
  const bare = { id: 'bare', side: 'bids' as const, quote: quoteOf({ depth: null }) };
  const all = [deep, old, bare, better];

  test('gives most for an exact input, of those that take it whole', () => {
    expect(bestPoolExactIn(all, 60n, options)).toEqual({ ...better, amountIn: 60n, amountOutFloor: 100n });
    expect(bestPoolExactIn(all, 61n, options)?.id).toBe('deep');
    expect(bestPoolExactIn(all, 1_000n, options)).toBeNull();
    expect(bestPoolExactIn([deep], 1n, options)).toBeNull();
  });

  test('asks least for an exact output, the first of equals', () => {
    expect(bestPoolExactOut(all, 50n, options)).toEqual({ ...better, amountInCeil: 30n, amountOut: 50n });
    expect(bestPoolExactOut([{ ...better, id: 'first' }, better], 50n, options)?.id).toBe('first');
    expect(bestPoolExactOut(all, 149n, options)?.id).toBe('deep');
    expect(bestPoolExactOut(all, 150n, options)).toBeNull();
    expect(bestPoolExactOut(all, 0n, options)).toBeNull();
  });
});
