import { createHash } from 'node:crypto';
import { decodeBigints } from '../../runtime/json.ts';

export type Hex = `0x${string}`;

/** A validated quote update. Hex is lowercase with 0x; integers that may exceed 2^53 are bigint. */
export type QuoteUpdate = {
  readonly chainId: number;
  /** Raw signed transaction; `0x` means cancel. */
  readonly tx: Hex;
  readonly blockNumber: bigint;
  /** 16 bytes. */
  readonly replacementUuid: Hex;
  readonly replacementSeqNumber: bigint;
  readonly disableCrossRegionSharing: boolean;
  /** Unix seconds. */
  readonly maxTimestamp?: bigint;
  readonly quoteAddress?: Hex;
  readonly poolAddresses: readonly Hex[];
  /** Each is token0 ++ token1, 40 bytes. */
  readonly assetPairs: readonly Hex[];
};

/** One request in flight to the builders. Times are Unix milliseconds. */
export type Submission = {
  readonly id: string;
  /** Channel of the API process that waits for the answers. */
  readonly replyTo: string;
  readonly arrivedAtMs: number;
  readonly update: QuoteUpdate;
};

/** Where a submission came from: all that an answer to it needs. */
export type Origin = Omit<Submission, 'update'> & { readonly update: Pick<QuoteUpdate, 'chainId'> };

/** Time that a builder has to acknowledge, counted from the arrival of the request. */
export const ACKNOWLEDGE_WITHIN_MS = 3_000;

export const isCancel = (update: QuoteUpdate): boolean => update.tx === '0x';

/** Gives the end of the time that builders have for a submission, Unix milliseconds. */
export const deadlineMs = (submission: Submission): number => submission.arrivedAtMs + ACKNOWLEDGE_WITHIN_MS;

/**
 * Identifies an update for a bundle builder by transaction, block and expiry. Two updates with the same sequence number
 * and different digests are not copies of each other.
 */
export function quoteDigest(update: QuoteUpdate): string {
  const content = `${update.tx}|${update.blockNumber}|${update.maxTimestamp ?? ''}`;
  return createHash('sha256').update(content).digest('hex');
}

/** Fields that are bigints. */
const BIGINT_FIELDS: ReadonlySet<string> = new Set([
  'blockNumber',
  'replacementSeqNumber',
  'maxTimestamp',
  'timestampNs',
]);

/** Reads the JSON of a submission or an answer that went through Redis, which `encodeBigints` wrote. */
export const decodeMessage = <T>(text: string): T => decodeBigints<T>(text, BIGINT_FIELDS);
