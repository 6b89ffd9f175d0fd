import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { DepthLevel as Level } from '../../protocol/depth.ts';
import { basisOf, overridesOf } from '../../quoting/quote-basis.ts';
import type { Snapshot } from '../../quoting/types.ts';
import { joinObjects } from '../../runtime/joined-json.ts';
import { perObject } from '../../runtime/per-object.ts';
import { setBlockHeaders } from '../http/block-headers.ts';
import { ReadyBody, sendReady } from '../http/ready-body.ts';
import { type ReusableAnswer, sendReusable } from '../http/reusable.ts';
import type { DepthLevel, Quote } from './quote-schema.ts';

/** A snapshot as clients see it. */
export function toQuote(read: Snapshot): z.infer<typeof Quote> {
  const { pool, depth, ...snapshot } = read;
  return {
    pair: pool.pair,
    poolAddress: pool.address,
    priceProviderStatus: snapshot.status,
    bidAdj: snapshot.bidX64.toString(),
    askAdj: snapshot.askX64.toString(),
    totalToken0Available: snapshot.balance0Raw?.toString() ?? null,
    totalToken1Available: snapshot.balance1Raw?.toString() ?? null,
    serverTs: snapshot.readAt,
    depth: depth && { bids: depth.bids.map(toLevel), asks: depth.asks.map(toLevel) },
    ...(snapshot.hasSource && { basis: basisOf(read) }),
  };
}

function toLevel(level: Level): z.infer<typeof DepthLevel> {
  return {
    binIdx: level.bin,
    price: level.priceX64.toString(),
    cumulativeVolume: level.cumulativeOutput.toString(),
    cumulativeInputVolume: level.cumulativeInput.toString(),
    priceImpactE6: level.priceImpactE6.toString(),
  };
}

/** The JSON text of a snapshot's quote, serialised once per pool, block and depth for any number of clients. */
export const quoteJson = perObject((snapshot: Snapshot): string => JSON.stringify(toQuote(snapshot)));

/** The text of {@link quoteJson}, ready to be sent and compressed at most once. */
export const readyQuote = perObject((snapshot: Snapshot) => new ReadyBody(quoteJson(snapshot)));

/** Sends the quote as a response that may be sent again. Compresses it once, if the client accepts that. */
export function quoteResponse(
  c: Context,
  snapshot: Snapshot,
  reuse: Pick<ReusableAnswer, 'isValid' | 'onRequest'>,
): Promise<Response> {
  return sendReusable(c, { body: readyQuote(snapshot), block: snapshot.block, ...reuse });
}

/** Sends the quote with what an `eth_call` needs to see what it saw. */
export function overriddenQuoteResponse(c: Context, snapshot: Snapshot): Promise<Response> {
  setBlockHeaders(c, snapshot.block);
  const overrides = JSON.stringify({ overrides: overridesOf([snapshot.block]) });
  return sendReady(c, new ReadyBody(joinObjects(quoteJson(snapshot), overrides)));
}
