import type { z } from '@hono/zod-openapi';
import type { DepthLevel as Level } from '../../protocol/depth.ts';
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

/** Bodies live as long as their snapshots: one serialisation per pool, block and depth, however many clients ask. */
const bodies = new WeakMap<Snapshot, string>();

/** The JSON text of a snapshot's quote. */
export function quoteJson(snapshot: Snapshot): string {
  const known = bodies.get(snapshot);
  if (known !== undefined) return known;
  const body = JSON.stringify(toQuote(snapshot));
  bodies.set(snapshot, body);
  return body;
}
