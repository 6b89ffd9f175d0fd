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

/** Asks until all quotes are live after a part. */
export async function quotesAfter(
  world: PartWorld,
  { number, index }: Part,
  of?: Batches,
): Promise<readonly LiveQuote[]> {
  return vi.waitFor(async () => {
    const all = await quotesOf(world, {}, of);
    const basis = { kind: 'live', targetBlockNumber: Number(number), source: { part: index } };
    for (const quote of all) expect(quote.basis).toMatchObject(basis);
    return all;
  }, 5_000);
}
