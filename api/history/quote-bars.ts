import { type BarsView, pageOf } from './bars.ts';
import type { QuoteBar, QuoteBarsPage } from './declaration.ts';
import type { QuoteBarRow, QuoteBars } from './select-quote-bars.ts';
import { IN_TOKENS, RATE_BITS } from './usd-rates.ts';

/** The product of a doubled price and its inverse, Q64.64 both. */
const DOUBLED_ONE = 1n << 129n;

/** The series whose inverse a series is: what buys token0 sells token1. */
export const INVERSE = { bid: 'ask', ask: 'bid', mid: 'mid' } as const;

/**
 * A page of bars of samples, from one bar more than it shows, if there is one.
 *
 * @param bars inverted, of the series that {@link INVERSE} names
 */
export function quoteBarsPage(
  { bars, finalUntilTs }: QuoteBars,
  { secs, limit, invert, emptyBeforeTs, rateAt = IN_TOKENS }: BarsView,
): QuoteBarsPage {
  const isFinal = (startTs: number) => startTs + secs <= finalUntilTs;
  const toBar = ({ startTs, open2X64, high2X64, low2X64, close2X64, sampleCount }: QuoteBarRow): QuoteBar => {
    const rate = rateAt(startTs);
    const price = (double: bigint) => {
      // No inverse of zero.
      if (rate === null || (invert && double === 0n)) return null;
      const valued = invert ? (DOUBLED_ONE * rate) / double : (double * rate) / 2n;
      return (valued >> RATE_BITS).toString();
    };
    return {
      startTs,
      openX64: price(open2X64),
      highX64: price(invert ? low2X64 : high2X64),
      lowX64: price(invert ? high2X64 : low2X64),
      closeX64: price(close2X64),
      sampleCount,
      final: isFinal(startTs),
    };
  };
  const empty = (startTs: number): QuoteBar => {
    return {
      startTs,
      openX64: null,
      highX64: null,
      lowX64: null,
      closeX64: null,
      sampleCount: 0,
      final: isFinal(startTs),
    };
  };
  return pageOf(bars.map(toBar), limit, { secs, beforeTs: emptyBeforeTs, empty });
}
