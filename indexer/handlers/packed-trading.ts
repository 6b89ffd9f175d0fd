import type { Address } from 'viem';
import type { PackedBinSwapped, PackedSwapped } from '../../protocol/pool-events.ts';
import { packedSwapGain } from '../reducers/activity.ts';
import { arrayLiteral } from '../reducers/number-list.ts';
import { settlePackedSwap } from '../reducers/packed-swap.ts';
import { isZeroForOne } from '../reducers/swap.ts';
import { swap } from '../schema/pool-events.ts';
import { advancePool } from './activity.ts';
import type { HandlerContext, LogPlace, LogReference } from './context.ts';
import { OpenSwaps, type Placed } from './open-swaps.ts';

const openSwaps = new OpenSwaps<PackedBinSwapped>();

/** Keeps the bin's part for the swap that it belongs to, which is logged next. */
export function holdPackedBinSwap(reference: LogReference, pool: Address, event: PackedBinSwapped): void {
  openSwaps.add(reference, pool, event);
}

/** Adds a swap with its words; what they mean is decided elsewhere, and later. */
export async function recordPackedSwap(
  context: HandlerContext,
  place: LogPlace,
  pool: Address,
  event: PackedSwapped,
): Promise<void> {
  const { transactionHash } = place;
  const parts = openSwaps.take(place, pool);
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
    parts: partsLiteral(parts),
    ...place,
  });
}

/** Postgres's text form of a two-dimensional array. */
function partsLiteral(parts: readonly Placed<PackedBinSwapped>[]): string {
  return arrayLiteral(
    parts.map(({ logIndex, bin, delta0, delta1, fees }) =>
      arrayLiteral([logIndex, bin, delta0, delta1, fees.high, fees.low]),
    ),
  );
}
