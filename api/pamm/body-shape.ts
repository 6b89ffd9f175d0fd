import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { firstIssue } from '../../config/load-chains.ts';
import { bodyBytes, invalidBody, readJson, stringList } from '../body.ts';
import { uint64 } from '../declaration/uint64.ts';
import { ApiError } from '../errors.ts';

const hex = (description: string) => z.string().openapi({ description });

/** The body of a quote update on either kind of chain. Unknown fields are dropped. */
export const CommonBody = z.object({
  tx: hex('Signed quote-update transaction for the chain of the path, hex; `0x` means cancel.'),
  blockNumber: uint64('Block for which the quote is valid; on BSC the final valid block, above 0 for a live quote.'),
  replacementUuid: hex('Quote identifier, 16 bytes of hex.'),
  replacementSeqNumber: uint64('Above 0; increases with each update of the same `replacementUuid`.'),
  disableCrossRegionSharing: z
    .boolean()
    .nullish()
    .openapi({ description: 'True stops the builder sharing the quote across regions; null acts as false.' }),
  responseTimeoutMs: uint64(
    'How long to wait for builders, milliseconds from arrival; can only lower the default of 500.',
  ).nullish(),
  maxTimestamp: uint64(
    'Quote expiry, Unix seconds, at most 5 ahead on a live BSC quote; used on BSC alone, whose bundle builder needs it.',
  ).nullish(),
});

/** Builders on Ethereum match quotes to trades by these three fields. On BSC they are not even checked. */
export const EthereumBody = CommonBody.extend({
  quoteAddress: hex('Address a taker touches to trigger the quote; Ethereum only.').nullish(),
  poolAddresses: stringList(z.array(hex('Pool covered.')))
    .nullish()
    .openapi({ description: 'Pools that the quote covers; Ethereum only.' }),
  assetPairs: stringList(z.array(hex('Two addresses joined, 40 bytes of hex.')))
    .nullish()
    .openapi({ description: 'Token pairs that the quote prices; Ethereum only.' }),
});

export type QuoteBody = z.output<typeof CommonBody> & Partial<z.output<typeof EthereumBody>>;

const JSON_MEDIA_TYPE = /^application\/json\s*(;|$)/i;

/**
 * Reads the body of a quote update, and keeps integers exact. Failures are plain text.
 *
 * @throws ApiError 415 without `Content-Type: application/json`, 400 for malformed JSON or a duplicate key, 422 for a
 *   missing field or one of the wrong type
 */
export async function readQuoteBody(c: Context, kind: 'ethereum' | 'bsc'): Promise<QuoteBody> {
  if (!JSON_MEDIA_TYPE.test(c.req.header('Content-Type') ?? '')) {
    throw new ApiError(415, 'Expected request with `Content-Type: application/json`');
  }
  const json = readJson(await bodyBytes(c));
  if ('problem' in json) throw new ApiError(400, json.problem);
  const parsed = (kind === 'ethereum' ? EthereumBody : CommonBody).safeParse(json.value);
  if (!parsed.success) throw new ApiError(422, invalidBody(firstIssue(parsed.error)));
  return parsed.data;
}
