import { expect, onTestFinished, test, vi } from 'vitest';
import type { StateOverrides } from '../../chain/pending-state.ts';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import type { QuoteUpdate } from '../../devnet/live/maker.ts';
import { startedWorld } from '../harness/open-world.ts';
import { connectSse } from '../stream/sse-client.ts';
import type { StreamApi } from '../stream/stream-api.ts';
import { builderSource, type LiveQuote, startLiveStream, startLiveWorld, updateAll } from './live-world.ts';

const WAIT = { interval: 20 };
/** Live reads are checked again after half of this time: not within the test. */
const MAX_AGE_MS = 300_000;
const CHANGES = 8n;

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

/** Waits until the pools that are followed were read in a block being built that has an update. */
function followReads({ chain: { liveQuotes } }: StreamApi) {
  let last: StateOverrides | undefined;
  liveQuotes?.warmer.onResult((result) => {
    if (result?.kind === 'depths') last = result.block.pending?.overrides;
  });
  return ({ account, words }: QuoteUpdate) =>
    vi.waitFor(() => expect(Object.fromEntries(last?.get(account) ?? [])).toMatchObject(words), WAIT);
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
    const untilRead = followReads(api);
    const callsOf = (name: string) => api.calls.filter((each) => each === name).length;
    await updateAll(market, () => 200n);
    const head = String((await market.builder.buildBlock()).number);
    // Quotes of the head come first: whether it has a price decides how a list is read.
    const numberOf = async ({ address }: LivePool) =>
      (await fetch(`${api.base}/${address}/bid_ask?basis=committed`)).headers.get('X-Block-Number');
    for (const pool of followed) await vi.waitFor(async () => expect(await numberOf(pool)).toBe(head), WAIT);
    await updateAll(market, () => 201n);
    const client = await follow(api, followed);
    const updateFollowed = async (price: bigint) => {
      const updates = [];
      for (const pool of followed) updates.push(await market.update(pool, priceAround(price)));
      for (const update of updates) await untilRead(update);
    };
    let price = 201n;
    while (callsOf(method) < followed.length) {
      price += 1n;
      await updateFollowed(price);
    }
    const held = () => quotesOf(client.book).map(({ bidAdj }) => bidAdj);
    const before = held();
    await updateFollowed(price + 1n);
    await vi.waitFor(() => expect(held().some((bid) => before.includes(bid))).toBe(false), WAIT);
    const callsOfUpdate = async (pool: LivePool, at: bigint) => {
      const sent = callsOf('eth_call');
      await untilRead(await market.update(pool, priceAround(at)));
      return callsOf('eth_call') - sent;
    };
    /** @returns how many calls the change of the other feed costs */
    const callsOfChange = (change: bigint) => callsOfUpdate(other, 180n + change);
    // A list may still be on its way: until it is there a change costs calls.
    let changes = 0n;
    while ((await callsOfChange(changes)) > 0) changes += 1n;
    const [calls, messages] = [callsOf('eth_call'), client.messages.length];
    for (let change = 1n; change <= CHANGES; change += 1n) await callsOfChange(changes + change);
    expect(callsOf('eth_call') - calls).toBe(0);
    expect(client.areLive()).toBe(true);
    expect(client.messages.slice(messages).filter(({ event }) => event === 'stale')).toEqual([]);

    // A change of one of the pools is read, and shows what a request shows. With a stop loss it takes three calls: for
    // states and the quote, for the price, for simulated swaps.
    const [guarded] = followed as [LivePool];
    expect(await callsOfUpdate(guarded, 195n)).toBe(3);
    const { address } = guarded;
    const asked = (await (await fetch(`${api.base}/${address}/bid_ask`)).json()) as LiveQuote;
    await vi.waitFor(() => expect(held()).toContain(asked.bidAdj), WAIT);
    expect(before).not.toContain(asked.bidAdj);
  },
);
