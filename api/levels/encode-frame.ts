import type { Address } from 'viem';
import { type PriceLevel, priceLevels, smallestInput, thinLevels } from '../../protocol/price-levels.ts';
import type { PoolGas } from '../../quoting/guards/side-swaps.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { forEachYielding } from '../../runtime/for-each-yielding.ts';
import { joinObjects } from '../../runtime/joined-json.ts';
import { perObject } from '../../runtime/per-object.ts';
import { FORMS, type LevelsFormat } from './forms.ts';
import type { PoolShares } from './pool-shares.ts';

/** How a frame is written. */
export interface FrameShape {
  readonly format: LevelsFormat;
  /** Null: each pool is its own. */
  readonly venue: Address | null;
  /** Most levels of a pair; absent: all. */
  readonly levels?: number | undefined;
  /** A snapshot with the same levels, which may be written already. Absent: the snapshot itself. */
  readonly alike?: ((snapshot: DepthSnapshot) => DepthSnapshot) | undefined;
  /** What else is known of a pool; absent: nothing. */
  readonly extrasOf?: ((snapshot: DepthSnapshot) => PoolExtras) | undefined;
  /**
   * For a frame that must not be long: how many pools of the chain are not among its snapshots,
   * besides those it leaves out.
   */
  readonly omitted?: number | undefined;
}

/** What solvers know of a pool besides its levels. */
export interface PoolExtras {
  readonly gas: PoolGas;
  readonly shares: PoolShares;
}

const NO_EXTRAS: PoolExtras = { gas: { bids: null, asks: null }, shares: { committedShare: null, liveShare: null } };

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
  { format, venue, levels: most, omitted, alike, extrasOf }: FrameShape,
  head: string,
  snapshots: readonly DepthSnapshot[],
): Promise<EncodedFrame> {
  const shown: string[] = [];
  let [levels, bytes, unfit] = [0, head.length, 0];
  await forEachYielding(snapshots, (snapshot) => {
    if (snapshot.status !== 'healthy') return;
    const written = alike?.(snapshot) ?? snapshot;
    const { pairs, count } = most === undefined ? allPairs[format](written) : writePairs(written, format, most);
    if (count === 0) return;
    const { gas, shares } = extrasOf?.(snapshot) ?? NO_EXTRAS;
    const json = pairs
      .map(({ kind, text }) => joinObjects(text, JSON.stringify({ gas: gas[kind]?.whole ?? null, ...shares })))
      .join();
    const text = venue ? json : venueJson(snapshot.pool.address, json);
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

const hexOf = (amount: bigint): string => `0x${amount.toString(16)}`;
const venueJson = (venue: Address, pairs: string): string => `{"pamm":"${venue}","pairs":[${pairs}]}`;

interface Pair {
  readonly kind: keyof PoolGas;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly levels: readonly PriceLevel[];
  readonly minAmountIn: bigint | null;
}

/** A pool's pairs, one for each side that trades. */
const pairsOf = perObject(({ pool, depth, curve }: DepthSnapshot): readonly Pair[] => {
  const [token0, token1] = [pool.token0.address, pool.token1.address];
  const pairOf = (kind: keyof PoolGas, tokenIn: Address, tokenOut: Address): Pair => {
    const side = curve?.[kind];
    const levels = priceLevels(depth[kind], side?.outputOf ?? null);
    return { kind, tokenIn, tokenOut, levels, minAmountIn: side ? smallestInput(side) : null };
  };
  return [pairOf('bids', token0, token1), pairOf('asks', token1, token0)].filter(({ levels }) => levels.length > 0);
});

/** The pairs of a pool in a form, and how many levels they have. @param most levels of a pair */
function writePairs(snapshot: DepthSnapshot, format: LevelsFormat, most: number) {
  const { list, kind, exact, other } = FORMS[format];
  let count = 0;
  const pairs = pairsOf(snapshot).map(({ kind: side, tokenIn, tokenOut, levels, minAmountIn: least }) => {
    const shown = thinLevels(levels, most).map(({ amountIn, amountOut, isExact }) => ({
      amountIn: hexOf(amountIn),
      amountOut: hexOf(amountOut),
      [kind]: isExact ? exact : other,
    }));
    count += shown.length;
    const minAmountIn = least === null ? null : hexOf(least);
    return { kind: side, text: JSON.stringify({ tokenIn, tokenOut, [list]: shown, minAmountIn }) };
  });
  return { pairs, count };
}

/** The pairs of a pool with all levels. */
const allPairs = {
  builder: perObject((snapshot: DepthSnapshot) => writePairs(snapshot, 'builder', Number.POSITIVE_INFINITY)),
  bap710: perObject((snapshot: DepthSnapshot) => writePairs(snapshot, 'bap710', Number.POSITIVE_INFINITY)),
};
