import type { Hex, QuoteUpdate } from '../../builders/submit/quote-update.ts';
import type { PammConfig } from '../../config/pamm-schema.ts';
import { badRequest } from '../errors.ts';
import { hexDigits } from '../hex.ts';
import type { QuoteBody } from './body-shape.ts';
import { checkSignedTransaction } from './signed-transaction.ts';

/** How many seconds the expiry of a live BSC quote may lie ahead of the clock. */
const EXPIRY_HORIZON_SECS = 5n;
/** Tells milliseconds from seconds: Unix seconds reach it in the year 5138, Unix milliseconds in 1973. */
const SMALLEST_MILLISECONDS = 100_000_000_000n;

/**
 * Checks the values of a quote update, and gives them in one spelling.
 *
 * @param nowMs clock of the server, Unix milliseconds
 * @throws ApiError 400 that names the failing field
 */
export function toQuoteUpdate(
  body: QuoteBody,
  chain: { readonly chainId: number; readonly kind: PammConfig['kind'] },
  nowMs: number,
): QuoteUpdate {
  const update: QuoteUpdate = {
    chainId: chain.chainId,
    tx: transactionBytes(body.tx),
    blockNumber: body.blockNumber,
    replacementUuid: hexOf(body.replacementUuid, 16, 'replacementUuid'),
    replacementSeqNumber: body.replacementSeqNumber,
    disableCrossRegionSharing: body.disableCrossRegionSharing ?? false,
    ...(body.quoteAddress == null ? {} : { quoteAddress: hexOf(body.quoteAddress, 20, 'quoteAddress') }),
    poolAddresses: (body.poolAddresses ?? []).map((pool, index) => hexOf(pool, 20, `poolAddresses[${index}]`)),
    assetPairs: (body.assetPairs ?? []).map((pair, index) => hexOf(pair, 40, `assetPairs[${index}]`)),
    ...(body.maxTimestamp == null ? {} : { maxTimestamp: body.maxTimestamp }),
  };
  if (update.replacementSeqNumber === 0n) throw badRequest('replacementSeqNumber must be above 0');
  checkExpiry(update.maxTimestamp);
  if (update.tx === '0x') return update;
  if (chain.kind === 'bsc') checkLiveBscQuote(update, nowMs);
  checkSignedTransaction(update.tx, chain.chainId);
  return update;
}

function transactionBytes(text: string): Hex {
  const digits = digitsOf(text, 'tx');
  if (text === '') throw badRequest('tx is empty: a cancel is 0x');
  return `0x${digits}`;
}

function hexOf(text: string, bytes: number, field: string): Hex {
  const digits = digitsOf(text, field);
  if (digits.length !== bytes * 2) throw badRequest(`${field} must be ${bytes} bytes of hex`);
  return `0x${digits}`;
}

/** @throws ApiError 400 that names the field */
function digitsOf(text: string, field: string): string {
  const digits = hexDigits(text);
  if (digits === null) throw badRequest(`${field} is not valid hex`);
  return digits;
}

function checkExpiry(maxTimestamp: bigint | undefined): void {
  if (maxTimestamp === undefined) return;
  if (maxTimestamp === 0n) throw badRequest('maxTimestamp must be above 0');
  if (maxTimestamp >= SMALLEST_MILLISECONDS) throw badRequest('maxTimestamp must be in seconds, not milliseconds');
}

function checkLiveBscQuote({ blockNumber, maxTimestamp }: QuoteUpdate, nowMs: number): void {
  if (blockNumber === 0n) throw badRequest('blockNumber must be above 0 for a live quote');
  if (maxTimestamp === undefined) return;
  // The distance is measured from the exact clock, not from its whole second.
  if (maxTimestamp * 1000n > BigInt(nowMs) + EXPIRY_HORIZON_SECS * 1000n) {
    throw badRequest(`maxTimestamp must be at most ${EXPIRY_HORIZON_SECS} seconds ahead`);
  }
}
