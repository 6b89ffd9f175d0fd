import type { Context } from 'ponder:registry';
import type { Hex } from 'viem';

/** What a handler gets from Ponder, whatever the event. */
export type HandlerContext = Pick<Context, 'chain' | 'client' | 'db'>;

/** Where a log stands: the columns that every event row has. Timestamps are Unix seconds. */
export interface LogPlace {
  readonly chainId: number;
  readonly blockNumber: number;
  readonly blockTimestamp: number;
  readonly logIndex: number;
  readonly transactionHash: Hex;
}

interface PlacedEvent {
  readonly block: { readonly number: bigint; readonly timestamp: bigint };
  readonly transaction: { readonly hash: Hex };
  readonly log: { readonly logIndex: number };
}

export function placeOf(event: PlacedEvent, { chain }: Pick<HandlerContext, 'chain'>): LogPlace {
  return {
    chainId: chain.id,
    blockNumber: Number(event.block.number),
    blockTimestamp: Number(event.block.timestamp),
    logIndex: event.log.logIndex,
    transactionHash: event.transaction.hash,
  };
}

/** The block columns of a row of state. */
export function stampOf({ blockNumber, blockTimestamp }: LogPlace): { blockNumber: number; blockTimestamp: number } {
  return { blockNumber, blockTimestamp };
}
