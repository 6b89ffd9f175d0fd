import type { z } from '@hono/zod-openapi';
import type { Address } from 'viem';
import type { Quote } from '../../api/quotes/quote-schema.ts';
import { simulateSwap } from '../../devnet/actions.ts';
import type { DevChain } from '../../devnet/dev-chain.ts';
import type { BidAsk } from '../../protocol/curve.ts';
import { decodeSimulation } from '../protocol/simulation-outcome.ts';

export type Level = NonNullable<z.infer<typeof Quote>['depth']>['bids'][number];

/**
 * What the chain takes and gives for an exact input, raw units; null when a guard refuses.
 *
 * @throws Error for any other end of the simulation
 */
export async function askChain(
  chain: DevChain,
  pool: Address,
  quote: BidAsk,
  zeroForOne: boolean,
  input: bigint,
): Promise<{ readonly taken: bigint; readonly given: bigint } | null> {
  const revertData = await simulateSwap(chain, { pool, zeroForOne, amountSpecified: input, ...quote });
  const outcome = decodeSimulation(revertData);
  if (outcome.kind === 'refused') return null;
  if (outcome.kind !== 'simulated') throw new Error(`simulating ${input} of ${pool} ended with ${revertData}`);
  const { amount0Delta, amount1Delta } = outcome;
  return zeroForOne ? { taken: amount0Delta, given: -amount1Delta } : { taken: amount1Delta, given: -amount0Delta };
}

/** Input and output of a level. */
export const amountsOf = (level: Level) => ({
  input: BigInt(level.cumulativeInputVolume),
  output: BigInt(level.cumulativeVolume),
});

/** The levels that add to the ones before them: bins without liquidity repeat the totals. */
export function tradingLevels(levels: readonly Level[]): Level[] {
  return levels.filter(
    (level, index) => level.cumulativeInputVolume !== (levels[index - 1]?.cumulativeInputVolume ?? '0'),
  );
}
