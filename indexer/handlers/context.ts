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

/** The columns of a swap's transaction. */
export interface SentTransaction {
  readonly transactionFrom: Address;
  /** Null when the transaction created a contract. */
  readonly transactionTo: Address | null;
}

/** Who sent the transaction of an event, and to whom. */
export const sentTransaction = ({
  transaction: { from, to },
}: {
  readonly transaction: { readonly from: Address; readonly to: Address | null };
}): SentTransaction => ({ transactionFrom: from, transactionTo: to });

interface PlacedEvent {
  readonly block: { readonly number: bigint; readonly timestamp: bigint };
  readonly transaction: { readonly hash: Hex };
  readonly log: { readonly logIndex: number };
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

/** The block columns that every row of state has. */
export function stampOf({ blockNumber, blockTimestamp }: LogPlace): { blockNumber: number; blockTimestamp: number } {
  return { blockNumber, blockTimestamp };
}
