import type { BlockRef } from '../../chain/read-context.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { isOfEarlier, targetOf } from '../../quoting/live/target-block.ts';
import { frameHead, parentField } from '../../quoting/live/write-frame.ts';
import type { Chain } from '../../quoting/open-chain.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import type { Clock } from '../../runtime/clock.ts';
import { perObject } from '../../runtime/per-object.ts';
import type { Stamp } from '../../runtime/shared-clock.ts';
import { type EncodedFrame, encodeFrame, type FrameShape, type PoolExtras } from './encode-frame.ts';
import type { LevelQuotes } from './one-state.ts';
import type { ChainShares } from './pool-shares.ts';

/** What price levels need of a chain. */
export type LevelsChain = ChainConfig &
  LevelQuotes &
  Pick<Chain, 'estimates' | 'swapGas'> & { readonly liveQuotes?: LevelQuotes | undefined };

/** Frames that change come at most four times a second. */
export const LEVELS_INTERVAL_MS = 250;

/** What the last frame of a chain has, when it was written, Unix milliseconds, and how long that took. */
interface WrittenFrame extends Omit<EncodedFrame, 'json'> {
  readonly computedAt: number;
  readonly lastComputeMs: number;
}

const written = perObject((_: LevelsChain): { last: WrittenFrame } => ({
  last: { pamms: 0, levels: 0, computedAt: 0, lastComputeMs: 0 },
}));

/** The last frame of a chain that this process wrote, whatever its query. */
export const lastWritten = (chain: LevelsChain): WrittenFrame => written(chain).last;

/** How a frame is written, and what it says of pools besides their levels. */
export type ShownShape = Omit<FrameShape, 'extrasOf'> & {
  readonly shares: Pick<ChainShares, 'of'>;
  readonly now: Clock;
  readonly stamp: Stamp;
};

/**
 * Writes a frame as one JSON text.
 *
 * @param block what is shown was read at it
 * @returns null when it holds in an earlier block than is named by now
 */
export async function writeLevels(
  chain: LevelsChain,
  { now, stamp, shares, ...shape }: ShownShape,
  block: BlockRef,
  snapshots: readonly DepthSnapshot[],
): Promise<string | null> {
  const madeAt = await stamp();
  const begunAt = now();
  const target = targetOf(block, chain);
  if (isOfEarlier(block, target)) return null;
  const head = frameHead(shape.format, chain.chainId, target, madeAt);
  const extrasOf = (snapshot: DepthSnapshot): PoolExtras => ({
    // Gas is measured at the block whose state is shown: in the block being built, a pool may hold something else.
    gas: chain.swapGas.of(snapshot, snapshot.block.pending ? block : snapshot.block),
    shares: shares.of(snapshot.pool.address),
  });
  const { json, ...size } = await encodeFrame({ ...shape, extrasOf }, `${head},${parentField(block)}`, snapshots);
  const lastComputeMs = Math.round(now() - begunAt);
  written(chain).last = { ...size, computedAt: madeAt + lastComputeMs, lastComputeMs };
  return json;
}
