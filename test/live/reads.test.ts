import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { startedWorld } from '../harness/open-world.ts';
import { connectSse } from '../stream/sse-client.ts';
import { builderSource, type LiveQuote, startLiveStream, startLiveWorld, updateAll } from './live-world.ts';

const WAIT = { timeout: 20_000, interval: 20 };
/** Live reads are checked again after half of this time: not within the test. */
const MAX_AGE_MS = 300_000;
const CHANGES = 8;
const CHANGE_MS = 300;

const world = startedWorld(() =>
  startLiveWorld({ flatPools: 2, packedPools: 2, guards: ['none', 'stopLoss'] }, (market) => ({
    ...builderSource(market),
    maxAgeMs: MAX_AGE_MS,
  })),
);
const api = startedWorld(() => startLiveStream(world));

const callsOf = (method: string) => api.calls.filter((each) => each === method).length;
const quotesOf = (book: Awaited<ReturnType<typeof connectSse>>['book']) =>
  [...book.quotes.values()].map(({ quote }) => quote as LiveQuote);

/** Follows pools until all have live prices. */
async function follow(pools: readonly LivePool[]) {
  const client = await connectSse(`${api.base}/stream?pools=${pools.map(({ address }) => address)}`);
  onTestFinished(client.close);
  const areLive = () => {
    const quotes = quotesOf(client.book);
    return quotes.length === pools.length && quotes.every(({ basis }) => basis?.kind === 'live');
  };
  await vi.waitFor(() => expect(areLive()).toBe(true), WAIT);
  return { ...client, areLive };
}

test('what a live price reads is learned from the node: a feed beside it in the same account changes at no call', async () => {
  const { market } = world;
  const [other, ...followed] = market.pools as [LivePool, ...LivePool[]];
  // The pools have a price at the head: what is read there is all that is ever read.
  market.builder.setLanding('every');
  await updateAll(market, () => 200n);
  await market.builder.buildBlock();
  await updateAll(market, () => 201n);
  const client = await follow(followed);
  let price = 201n;
  while (callsOf('eth_createAccessList') < followed.length) {
    price += 1n;
    for (const pool of followed) await market.update(pool, priceAround(price));
    await sleep(CHANGE_MS);
  }
  for (const pool of followed) await market.update(pool, priceAround(price + 1n));
  const held = () => quotesOf(client.book).map(({ bidAdj }) => bidAdj);
  const before = held();
  await vi.waitFor(() => expect(held().some((bid) => before.includes(bid))).toBe(false), WAIT);
  // Whatever is still due is announced, and read, within this time.
  await sleep(500);

  const [calls, messages] = [callsOf('eth_call'), client.messages.length];
  for (let change = 0n; change < CHANGES; change += 1n) {
    await market.update(other, priceAround(190n + change));
    await sleep(CHANGE_MS);
  }
  expect(callsOf('eth_call') - calls).toBe(0);
  expect(client.areLive()).toBe(true);
  expect(client.messages.slice(messages).filter(({ event }) => event === 'stale')).toEqual([]);

  // A change of one of the pools is read, and shows what a request shows.
  await market.update(followed[0] as LivePool, priceAround(195n));
  await vi.waitFor(() => expect(callsOf('eth_call')).toBeGreaterThan(calls), WAIT);
  const [{ address }] = followed as [LivePool];
  const asked = (await (await fetch(`${api.base}/${address}/bid_ask`)).json()) as LiveQuote;
  await vi.waitFor(() => expect(held()).toContain(asked.bidAdj), WAIT);
  expect(before).not.toContain(asked.bidAdj);
});
