import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { DepthLevel as Level } from '../../protocol/depth.ts';
import { tellBlock } from '../http/block-headers.ts';
import { ReadyBody, sendReady } from '../http/ready-body.ts';
import type { Snapshot } from '../snapshots/types.ts';
import type { DepthLevel, Quote } from './quote-schema.ts';

/** A snapshot as clients see it. */
export function toQuote({ pool, depth, ...snapshot }: Snapshot): z.infer<typeof Quote> {
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

interface Texts {
  readonly json: string;
  body: ReadyBody | undefined;
}

/** Texts live as long as their snapshots: one serialisation per pool, block and depth, however many clients ask. */
const texts = new WeakMap<Snapshot, Texts>();

function textsOf(snapshot: Snapshot): Texts {
  const known = texts.get(snapshot);
  if (known) return known;
  const made: Texts = { json: JSON.stringify(toQuote(snapshot)), body: undefined };
  texts.set(snapshot, made);
  return made;
}

/** The JSON text of a snapshot's quote. */
export const quoteJson = (snapshot: Snapshot): string => textsOf(snapshot).json;

/** Whether clients see the same in both but for `serverTs`. */
export function isSameQuote(one: Snapshot, other: Snapshot): boolean {
  if (one === other) return true;
  return (
    one.pool.pair === other.pool.pair &&
    one.status === other.status &&
    one.bidX64 === other.bidX64 &&
    one.askX64 === other.askX64 &&
    one.balance0Raw === other.balance0Raw &&
    one.balance1Raw === other.balance1Raw &&
    isSameSide(one.depth?.bids, other.depth?.bids) &&
    isSameSide(one.depth?.asks, other.depth?.asks)
  );
}

function isSameSide(one: readonly Level[] | undefined, other: readonly Level[] | undefined): boolean {
  if (!one || !other || one === other) return one === other;
  return one.length === other.length && one.every((level, index) => isSameLevel(level, other[index] as Level));
}

const isSameLevel = (one: Level, other: Level): boolean =>
  one.bin === other.bin &&
  one.priceX64 === other.priceX64 &&
  one.cumulativeOutput === other.cumulativeOutput &&
  one.cumulativeInput === other.cumulativeInput &&
  one.priceImpactE6 === other.priceImpactE6;

/** The quote as a response, from texts that are ready: compressed once, where the client takes it so. */
export function quoteResponse(c: Context, snapshot: Snapshot): Promise<Response> {
  const texts = textsOf(snapshot);
  texts.body ??= new ReadyBody(texts.json);
  tellBlock(c, snapshot.block);
  return sendReady(c, texts.body);
}
