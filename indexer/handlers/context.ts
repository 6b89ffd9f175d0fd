import type { Context } from 'ponder:registry';
import type { Hex } from 'viem';

/** What a handler gets from Ponder, whatever the event. */
export type HandlerContext = Pick<Context, 'chain' | 'client' | 'db'>;

/** What distinguishes a log from the others of its block, and the transactions of its block. */
export interface LogReference {
  readonly chainId: number;
  readonly logIndex: number;
  readonly transactionHash: Hex;
}

/** Where a log stands: the columns that every event row has. Timestamps are Unix seconds. */
export interface LogPlace extends LogReference {
  readonly blockNumber: number;
  readonly blockTimestamp: number;
}

interface PlacedEvent {
  readonly block: { readonly number: bigint; readonly timestamp: bigint };
  readonly transaction: { readonly hash: Hex };
  readonly log: { readonly logIndex: number };
}

/** For logs that come by the million: every further field that is read of an event goes through a proxy. */
export function referenceOf(
  { log, transaction }: Pick<PlacedEvent, 'log' | 'transaction'>,
  { chain }: Pick<HandlerContext, 'chain'>,
): LogReference {
  return { chainId: chain.id, logIndex: log.logIndex, transactionHash: transaction.hash };
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
