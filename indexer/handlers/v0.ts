import type { Address } from 'viem';
import { isZeroForOne } from '../reducers/swap.ts';
import { v0Pool, v0Swap } from '../schema/v0.ts';
import { type HandlerContext, type LogPlace, type SentPlace, stampOf } from './context.ts';
import { recordTokens } from './tokens.ts';

/** What the factory of the oldest generation announces. */
interface V0PoolCreated {
  readonly pool: Address;
  readonly token0: Address;
  readonly token1: Address;
}

/** What a pool of the oldest generation logs of a swap. Deltas are raw units, positive into the pool. */
interface V0Swapped {
  readonly sender: Address;
  readonly recipient: Address;
  readonly exactInput: boolean;
  readonly amount0Delta: bigint;
  readonly amount1Delta: bigint;
}

/** Adds a pool of the oldest generation, and its tokens if they are new to the index. */
export async function recordV0Pool(
  context: HandlerContext,
  place: LogPlace,
  { pool, token0, token1 }: V0PoolCreated,
): Promise<void> {
  await recordTokens(context, place, [token0, token1]);
  const row = { chainId: place.chainId, address: pool, token0, token1, ...stampOf(place) };
  await context.db.insert(v0Pool).values(row);
}

/** Adds a swap of a pool of the oldest generation. */
export async function recordV0Swap(
  context: HandlerContext,
  place: SentPlace,
  pool: Address,
  event: V0Swapped,
): Promise<void> {
  await context.db.insert(v0Swap).values({
    pool,
    sender: event.sender,
    recipient: event.recipient,
    zeroForOne: isZeroForOne(event),
    exactInput: event.exactInput,
    amount0Raw: event.amount0Delta,
    amount1Raw: event.amount1Delta,
    ...place,
  });
}
