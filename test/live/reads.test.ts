import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { startedWorld } from '../harness/open-world.ts';
import { connectSse } from '../stream/sse-client.ts';
import type { StreamApi } from '../stream/stream-api.ts';
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
const quotesOf = (book: Awaited<ReturnType<typeof connectSse>>['book']) =>
  [...book.quotes.values()].map(({ quote }) => quote as LiveQuote);

/** Follows pools until all have live prices. */
async function follow({ base }: StreamApi, pools: readonly LivePool[]) {
  const client = await connectSse(`${base}/stream?pools=${pools.map(({ address }) => address)}`);
  onTestFinished(client.close);
  const areLive = () => {
    const quotes = quotesOf(client.book);
    return quotes.length === pools.length && quotes.every(({ basis }) => basis?.kind === 'live');
  };
  await vi.waitFor(() => expect(areLive()).toBe(true), WAIT);
  return { ...client, areLive };
}

test.each([
  ['that pools have at the head too', 'every', 'eth_createAccessList'],
  ['that overrides alone give', 'never', 'debug_traceCall'],
] as const)(
  'what a price reads %s is learned from the node: other feeds change at no call',
  async (_, landing, method) => {
    const { market } = world;
    const [other, ...followed] = market.pools as [LivePool, ...LivePool[]];
    market.builder.setLanding(landing);
    const api = await startLiveStream(world);
    onTestFinished(() => api.stop());
    const callsOf = (name: string) => api.calls.filter((each) => each === name).length;
    await updateAll(market, () => 200n);
    await market.builder.buildBlock();
    await updateAll(market, () => 201n);
    const client = await follow(api, followed);
    let price = 201n;
    while (callsOf(method) < followed.length) {
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
  },
);
