import type { BlockRef } from '../../chain/read-context.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { targetOf } from '../../quoting/live/target-block.ts';
import { frameHead } from '../../quoting/live/write-frame.ts';
import type { Chain } from '../../quoting/open-chain.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { encodeFrame } from './encode-frame.ts';
import type { LevelsQuery } from './levels-query.ts';
import type { LevelQuotes } from './one-state.ts';

/** What price levels need of a chain. */
export type LevelsChain = ChainConfig &
  LevelQuotes &
  Pick<Chain, 'estimates'> & { readonly liveQuotes?: LevelQuotes | undefined };

/**
 * Writes the frame of a query.
 *
 * @param madeAt Unix milliseconds
 * @param block what is shown was read at it
 */
export function writeLevels(
  chain: LevelsChain,
  { format, venue, madeAt }: Pick<LevelsQuery, 'format' | 'venue'> & { readonly madeAt: number },
  block: BlockRef,
  snapshots: readonly DepthSnapshot[],
): Promise<string> {
  const head = frameHead(format, chain.chainId, targetOf(block, chain), madeAt);
  return encodeFrame(format, head, venue, snapshots);
}
