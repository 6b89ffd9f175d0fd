import { HORIZONS } from '../../db/listing/persistence.ts';
import type { BidAsk, PoolCurve } from '../../protocol/curve.ts';
import type { TradingSides } from '../../protocol/depth.ts';
import { outputUntil, pricesWithin } from '../../protocol/depth-within.ts';
import { divCeil, E6, maxBigint } from '../../protocol/fixed-point.ts';
import { hasMid } from '../quote-reader.ts';

/** So many of {@link HORIZONS} are blocks, the others moments of live prices. */
const BLOCK_HORIZONS = 3;

export const SIDES = ['bids', 'asks'] as const satisfies readonly (keyof PoolCurve)[];
export type Side = (typeof SIDES)[number];

/** What a pool quoted at a block, guards applied. */
export interface PoolQuote extends BidAsk {
  readonly curve: PoolCurve;
  readonly trading: TradingSides;
}

/** Null: the pool did not trade. Undefined: it was not read. */
export type QuoteRead = PoolQuote | null | undefined;

/** What is compared: at blocks, where also depth is, and at live prices. */
export interface ShownQuotes {
  readonly block: PoolQuote;
  readonly live: QuoteRead;
}

/** What quotes of one side became. */
export interface SideSample {
  /** By horizon, then by amount: against the taker, millionths, as {@link changeE6}; null where it is not known. */
  readonly changesE6: readonly (number | null)[];
  /** As {@link goneE6}. */
  readonly goneE6: number | null;
}

export type Sample = Readonly<Record<Side, SideSample>>;

/** The change of a quote that does not fill any more: all of it is gone. */
export const WITHDRAWN_E6 = 1_000_000;
/** A quote a thousand times better is as good as any. */
const MIN_CHANGE_E6 = -1_000_000_000n;
/** Depth is compared within this distance from mid, basis points. */
const DEPTH_BPS = 10;
/** One of the amounts is this part of what the side takes. */
const DEPTH_PART = 10n;

/**
 * Compares what a pool quoted with what it gives at each of {@link HORIZONS}.
 *
 * 1. An amount that does not fill when it is shown is no quote: its changes are null.
 * 2. What was not read, or is not known between levels, is null. What does not fill any more is {@link WITHDRAWN_E6}.
 * 3. A quote that stays as it is changes by zero.
 *
 * @param later by horizon
 * @param next the pool in the block after, as early as it was read there
 * @param inputs by side, the amounts to compare beside a part of the depth, raw units; null where the token's price is
 *   not known
 */
export function compareQuotes(
  shown: ShownQuotes,
  later: readonly QuoteRead[],
  next: QuoteRead,
  inputs: Readonly<Record<Side, readonly (bigint | null)[]>>,
): Sample {
  const ofSide = (side: Side): SideSample => {
    const quotesOf = (quote: QuoteRead) => {
      const whole = quote?.trading[side]?.at(-1)?.cumulativeInput ?? 0n;
      const amounts = [...inputs[side], whole / DEPTH_PART];
      return amounts.map((input) => ({ input, output: quote ? outputOf(quote, side, input) : null }));
    };
    const [ofBlock, live] = [quotesOf(shown.block), quotesOf(shown.live)];
    const changesE6 = HORIZONS.flatMap((_, horizon) =>
      (horizon < BLOCK_HORIZONS ? ofBlock : live).map(({ input, output }) => {
        const then = later[horizon];
        const outputThen = then && outputOf(then, side, input);
        return output == null || outputThen === undefined ? null : changeE6(output, outputThen);
      }),
    );
    return { changesE6, goneE6: goneE6(shown.block, next, side) };
  };
  return { bids: ofSide('bids'), asks: ofSide('asks') };
}

/** Whether anything was compared. */
export const isKnown = ({ bids, asks }: Sample): boolean =>
  [bids, asks].some(({ changesE6, goneE6: gone }) => gone !== null || changesE6.some((change) => change !== null));

/**
 * What an exact input gives, raw units; null when it does not fill, or gives nothing; undefined where the curve is not
 * known between its levels.
 */
function outputOf({ curve, trading }: PoolQuote, side: Side, input: bigint | null): bigint | null | undefined {
  const end = trading[side]?.at(-1)?.cumulativeInput ?? 0n;
  if (input === null || input === 0n || input > end) return null;
  const { outputOf: exactOutput } = curve[side];
  return exactOutput ? exactOutput(input) || null : undefined;
}

/**
 * By how much a quote became worse for the taker, millionths of what was shown: negative for a better one. Rounded up,
 * towards worse.
 *
 * @param shown positive
 * @param later null: the amount does not fill any more
 */
export function changeE6(shown: bigint, later: bigint | null): number {
  if (later === null) return WITHDRAWN_E6;
  const lost = (shown - later) * E6;
  const rounded = lost > 0n ? divCeil(lost, shown) : lost / shown;
  return Number(maxBigint(rounded, MIN_CHANGE_E6));
}

/**
 * The part of the depth within 10 bps of mid that the next block does not have within the same price, millionths,
 * rounded up; null without such depth, where a side is closed, or where it is not known.
 */
export function goneE6(shown: PoolQuote, next: QuoteRead, side: Side): number | null {
  if (next === undefined || !hasMid(shown)) return null;
  const limitX64 = pricesWithin({ sellX64: shown.bidX64, buyX64: shown.askX64 }, DEPTH_BPS)[side];
  const before = outputUntil(shown.curve[side], shown.trading[side], limitX64);
  const after = next ? outputUntil(next.curve[side], next.trading[side], limitX64) : 0n;
  if (!before || after === null) return null;
  return Number(divCeil(maxBigint(before - after, 0n) * E6, before));
}
