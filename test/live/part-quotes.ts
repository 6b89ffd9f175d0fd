import { expect, vi } from 'vitest';
import type { Part } from '../../devnet/parts/part.ts';
import type { Batches, LiveQuote } from './live-world.ts';
import type { PartWorld } from './part-world.ts';

/** The quotes of all pools. */
export async function quotesOf(world: PartWorld, body: object = {}, of?: Batches): Promise<readonly LiveQuote[]> {
  const { results } = await world.batch(body, of);
  return results.map((result) => {
    if (!('quote' in result)) throw new Error(JSON.stringify(result));
    return result.quote;
  });
}

/**
 * Asks until all quotes are live after a part. Where a call came before its push, the index may be unknown: those of a
 * part with prices of all pools are not of a part of the block before any price.
 *
 * @param body says which pools. Default: all
 */
export async function quotesAfter(
  world: PartWorld,
  { number, index, transactions }: Part,
  of?: Batches,
  body: object = {},
): Promise<readonly LiveQuote[]> {
  const isPriced = transactions.length === world.market.pools.length;
  return vi.waitFor(async () => {
    const all = await quotesOf(world, body, of);
    for (const { basis, priceProviderStatus } of all) {
      expect(basis).toMatchObject({ kind: 'live', targetBlockNumber: Number(number) });
      expect([index, null]).toContain(basis?.source?.part);
      if (isPriced) expect(priceProviderStatus).not.toBe('feed_down');
    }
    return all;
  });
}

/** Shows parts with new prices until all quotes say that they are after the last one. */
export async function pricedQuotes(world: PartWorld, hundredths: bigint) {
  for (;;) {
    const part = await world.price(hundredths);
    const quotes = await quotesAfter(world, part);
    if (quotes.every(({ basis }) => basis?.source?.part === part.index)) return { part, quotes };
  }
}
