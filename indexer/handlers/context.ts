import type { Context } from 'ponder:registry';
import type { Address, Hex } from 'viem';

/** What every handler gets from Ponder. */
export type HandlerContext = Pick<Context, 'chain' | 'client' | 'db'>;

/** Identifies a log and its transaction within a block. */
export interface LogReference {
  readonly chainId: number;
  readonly logIndex: number;
  readonly transactionHash: Hex;
}

/** The place of a log: the columns that every event row has. Timestamps are Unix seconds. */
export interface LogPlace extends LogReference {
  readonly blockNumber: number;
  readonly blockTimestamp: number;
}

/** The place of a log of trading: with its transaction's place in the block, its sender, and to whom it was sent. */
export interface SentPlace extends LogPlace {
  readonly transactionIndex: number;
  readonly transactionFrom: Address;
  /** Null when the transaction created a contract. */
  readonly transactionTo: Address | null;
}

interface PlacedEvent {
  readonly block: { readonly number: bigint; readonly timestamp: bigint };
  readonly transaction: { readonly hash: Hex };
  readonly log: { readonly logIndex: number };
}

interface SentEvent extends PlacedEvent {
  readonly transaction: {
    readonly hash: Hex;
    readonly transactionIndex: number;
    readonly from: Address;
    readonly to: Address | null;
  };
}

/** What Ponder calls a handler with. */
export interface HandledLog {
  readonly event: PlacedEvent;
  readonly context: HandlerContext;
}

/** Reads few fields, for logs that come by the million: each field of an event is read through a proxy. */
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

export function sentPlaceOf(event: SentEvent, context: Pick<HandlerContext, 'chain'>): SentPlace {
  const { transactionIndex, from: transactionFrom, to: transactionTo } = event.transaction;
  return { transactionIndex, transactionFrom, transactionTo, ...placeOf(event, context) };
}

/** The block columns that every row of state has. */
export function stampOf({ blockNumber, blockTimestamp }: LogPlace): { blockNumber: number; blockTimestamp: number } {
  return { blockNumber, blockTimestamp };
}
