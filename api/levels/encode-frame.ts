import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { blockAfter, type TargetBlock } from '../../chain/pending-state.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { maxBigint } from '../../protocol/fixed-point.ts';
import { priceLevels } from '../../protocol/price-levels.ts';
import type { Heads } from '../../quoting/heads/heads.ts';
import { MAX_AHEAD } from '../../quoting/live/frame-merger.ts';
import { SLOT_CHAIN, slotAt } from '../../quoting/live/slots.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { forEachYielding } from '../../runtime/for-each-yielding.ts';
import { perObject } from '../../runtime/per-object.ts';
import { FORMS, type LevelsFormat } from './forms.ts';

/** What a frame needs of a chain. */
export type FramedChain = Pick<ChainConfig, 'chainId' | 'blockTimeMs'> & { readonly heads: Pick<Heads, 'top'> };

/** The highest block of a chain that frames named. */
const named = perObject((_: FramedChain): { highest?: TargetBlock } => ({}));

/**
 * The block that is being built, as frames name it. It goes back only when the chain does: overrides of a later block may
 * end, and a read at an earlier block may end late.
 *
 * @param block what is shown was read at it
 */
export function targetOf(block: BlockRef, chain: FramedChain): TargetBlock {
  const { blockNumber, timestamp } = block.pending ?? blockAfter(block, chain.blockTimeMs);
  const memory = named(chain);
  const { highest } = memory;
  const isBelow = highest && blockNumber < highest.blockNumber && highest.blockNumber <= chain.heads.top + MAX_AHEAD;
  memory.highest = isBelow ? highest : { blockNumber, timestamp };
  return memory.highest;
}

/** The first fields of a frame, as JSON without braces. Builders name the slot, and when the frame was made in nanoseconds. */
export function frameHead(
  format: LevelsFormat,
  { chainId }: Pick<FramedChain, 'chainId'>,
  target: TargetBlock,
): string {
  const { blockNumber, timestamp } = target;
  const now = Date.now();
  if (format === 'bap710') return `"blockNumber":${blockNumber},"millisTimestamp":${now}`;
  // A slot may pass without a block.
  const slotTime = maxBigint(timestamp, BigInt(Math.floor(now / 1_000)));
  const slot = chainId === SLOT_CHAIN ? `"slot":${slotAt(slotTime)},` : '';
  return `${slot}"blockNumber":${blockNumber},"timestamp":${BigInt(now) * 1_000_000n}`;
}

/**
 * Writes the price levels of pools as one JSON text, in turns: levels are computed once per snapshot.
 *
 * @param head its first fields
 * @param venue null: each pool is its own
 */
export async function encodeFrame(
  format: LevelsFormat,
  head: string,
  venue: Address | null,
  snapshots: readonly DepthSnapshot[],
): Promise<string> {
  const shown: string[] = [];
  await forEachYielding(snapshots, (snapshot) => {
    const pairs = snapshot.status === 'healthy' ? pairsOf(snapshot)[format] : '';
    if (pairs !== '') shown.push(venue ? pairs : venueJson(snapshot.pool.address, pairs));
  });
  const pamms = venue && shown.length > 0 ? venueJson(venue, shown.join()) : shown.join();
  return `{${head},"pamms":[${pamms}]}`;
}

const venueJson = (venue: Address, pairs: string): string => `{"pamm":"${venue}","pairs":[${pairs}]}`;

/** A pool's pairs, one for each side that trades, in both forms. */
const pairsOf = perObject(({ pool, depth, curve }: DepthSnapshot): Readonly<Record<LevelsFormat, string>> => {
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
  return { builder: written('builder'), bap710: written('bap710') };
});
