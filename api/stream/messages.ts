import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { poolNotServed, snapshotFailure } from '../quotes/bid-ask.ts';
import { quoteJson } from '../quotes/quote-body.ts';
import { type Snapshot, SnapshotError } from '../snapshots/types.ts';

/** Most of one message, in characters: a single quote may take more. */
export const PART_LENGTH = 60 * 1024;

/** What is common to all messages of a stream at a moment. */
export interface Envelope {
  readonly chainId: number;
  readonly epoch: string;
  readonly seq: number;
  readonly block: BlockRef;
}

/** @param fields more of the object, as JSON that begins with a comma, or nothing */
export function messageJson({ chainId, epoch, seq, block }: Envelope, prevSeq: number | null, fields: string): string {
  const head = `{"chainId":${chainId},"epoch":"${epoch}","seq":${seq},"prevSeq":${prevSeq}`;
  const at = `"blockNumber":${block.number},"blockHash":"${block.hash}","blockTimestamp":${block.timestamp}`;
  return `${head},${at},"serverTs":${Math.floor(Date.now() / 1_000)}${fields}}`;
}

/** What is told of a pool: its quote, made once however many connections are told, or why there is none. */
export const outcomeJson = (pool: Address, outcome: Snapshot | SnapshotError): string =>
  outcome instanceof SnapshotError ? errorJson(pool, snapshotFailure(outcome)) : quoteJson(outcome);

/** The error of a pool that is not served. */
export const notServedJson = (pool: Address): string => errorJson(pool, poolNotServed(pool));

function errorJson(poolAddress: Address, { status, message }: { readonly status: number; readonly message: string }) {
  return JSON.stringify({ poolAddress, status, error: message });
}
