import type { Address } from 'viem';
import { priceLevels } from '../../protocol/price-levels.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { forEachYielding } from '../../runtime/for-each-yielding.ts';
import { perObject } from '../../runtime/per-object.ts';
import { FORMS, type LevelsFormat } from './forms.ts';

/** How a frame is written. */
export interface FrameShape {
  readonly format: LevelsFormat;
  /** Null: each pool is its own. */
  readonly venue: Address | null;
  /** For a frame that must not be long: how many pools of the chain are not among its snapshots, besides those it leaves out. */
  readonly omitted?: number | undefined;
}

/** With the envelope of any transport, a frame that must not be long stays below 900 kB: some clients refuse 1 MiB. */
export const MAX_FRAME_BYTES = 899_000;

/** A frame as one JSON text, and how much it has. */
export interface EncodedFrame {
  readonly json: string;
  readonly pamms: number;
  readonly levels: number;
}

/**
 * Writes the price levels of pools, in turns: levels are computed once per snapshot.
 *
 * @param head its first fields
 */
export async function encodeFrame(
  { format, venue, omitted }: FrameShape,
  head: string,
  snapshots: readonly DepthSnapshot[],
): Promise<EncodedFrame> {
  const shown: string[] = [];
  let [levels, bytes, unfit] = [0, head.length, 0];
  await forEachYielding(snapshots, (snapshot) => {
    if (snapshot.status !== 'healthy') return;
    const { [format]: pairs, count } = pairsOf(snapshot);
    if (count === 0) return;
    const text = venue ? pairs : venueJson(snapshot.pool.address, pairs);
    // After the first one that does not fit come pools of less value.
    const isLong = unfit > 0 || bytes + text.length >= MAX_FRAME_BYTES;
    if (omitted !== undefined && isLong) unfit += 1;
    else {
      shown.push(text);
      bytes += text.length + 1;
      levels += count;
    }
  });
  const pamms = venue && shown.length > 0 ? venueJson(venue, shown.join()) : shown.join();
  const end = omitted === undefined ? '' : `,"omitted":${omitted + unfit}`;
  return {
    json: `{${head},"pamms":[${pamms}]${end}}`,
    pamms: venue ? Math.min(1, shown.length) : shown.length,
    levels,
  };
}

const venueJson = (venue: Address, pairs: string): string => `{"pamm":"${venue}","pairs":[${pairs}]}`;

/** A pool's pairs, one for each side that trades, in both forms, and how many levels they have. */
const pairsOf = perObject(({ pool, depth, curve }: DepthSnapshot) => {
  const [token0, token1] = [pool.token0.address, pool.token1.address];
  const pairs = [
    { tokenIn: token0, tokenOut: token1, levels: priceLevels(depth.bids, curve?.bids.outputOf ?? null) },
    { tokenIn: token1, tokenOut: token0, levels: priceLevels(depth.asks, curve?.asks.outputOf ?? null) },
  ].filter(({ levels }) => levels.length > 0);
  const written = (format: LevelsFormat) => {
    const { list, kind, exact, other } = FORMS[format];
    const texts = pairs.map(({ levels, ...tokens }) => {
      const shown = levels.map(({ amountIn, amountOut, isExact }) => ({
        amountIn: `0x${amountIn.toString(16)}`,
        amountOut: `0x${amountOut.toString(16)}`,
        [kind]: isExact ? exact : other,
      }));
      return JSON.stringify({ ...tokens, [list]: shown });
    });
    return texts.join();
  };
  const count = pairs.reduce((sum, { levels }) => sum + levels.length, 0);
  return { builder: written('builder'), bap710: written('bap710'), count };
});
