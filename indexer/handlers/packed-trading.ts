import type { Address } from 'viem';
import type { PackedBinSwapped, PackedSwapped } from '../../protocol/pool-events.ts';
import { packedSwapGain } from '../../protocol/pool-totals.ts';
import { settlePackedSwap } from '../reducers/packed-swap.ts';
import { isZeroForOne } from '../reducers/swap.ts';
import { arrayLiteral } from '../schema/number-list.ts';
import { swap } from '../schema/pool-events.ts';
import { advancePool } from './activity.ts';
import type { HandlerContext, SentPlace } from './context.ts';
import { OpenSwaps } from './open-swaps.ts';

/** Bin parts of swaps whose `Swap` log is still to come. */
export const openPackedSwaps = new OpenSwaps<PackedBinSwapped>();

/** Adds a swap with its packed words. Calibration decides later what the words mean. */
export async function recordPackedSwap(
  context: HandlerContext,
  place: SentPlace,
  pool: Address,
  event: PackedSwapped,
): Promise<void> {
  const { transactionHash } = place;
  const parts = openPackedSwaps.take(place, pool);
  await advancePool(context, place, pool, (state) => {
    const { state: settled, binFees } = settlePackedSwap(state, parts, event);
    const gain = packedSwapGain(event, binFees, state.lastSwapTransactionHash !== transactionHash);
    return { changes: { lastSwapTransactionHash: transactionHash, ...settled }, gain };
  });
  await context.db.insert(swap).values({
    pool,
    sender: event.sender,
    recipient: event.recipient,
    zeroForOne: isZeroForOne(event),
    amount0Raw: event.amount0Delta,
    amount1Raw: event.amount1Delta,
    details: event.details,
    platformFeesHigh: event.platformFees.high,
    platformFeesLow: event.platformFees.low,
    parts: arrayLiteral(
      parts.map(({ logIndex, bin, delta0, delta1, fees }) =>
        arrayLiteral([logIndex, bin, delta0, delta1, fees.high, fees.low]),
      ),
    ),
    ...place,
  });
}
