import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { stream } from '../../client/stream.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import type { QuoteUpdate } from '../../devnet/live/maker.ts';
import { startedWorld } from '../harness/open-world.ts';
import { Book } from '../stream/book.ts';
import { connectSse } from '../stream/stream-connection.ts';
import {
  batchesOf,
  type LiveQuote,
  startLiveStream,
  startLiveWorld,
  updateAll,
  waitForLive,
  waitForUpdates,
} from './live-world.ts';

/** Most changes of a pool that a stream sends between two blocks, in a second. */
const MAX_PER_SEC = 4;

const world = startedWorld(() => startLiveWorld({ flatPools: 2, packedPools: 2 }));
const api = startedWorld(() => startLiveStream(world));

const key = ({ poolAddress, bidAdj, askAdj }: LiveQuote) => `${poolAddress} ${bidAdj} ${askAdj}`;

/** A client of all pools. */
function openClient(after?: string) {
  const book = new Book();
  /** When each change of a pool came, without the first one. */
  const changes = new Map<string, number[]>();
  const pools = world.market.pools.map(({ address }) => address);
  const wanted = { chainId: world.config.chainId, pools, depth: true, after };
  const { close } = connectSse(new URL(api.base).origin, wanted, {
    message: (event, id, text) => {
      const data = JSON.parse(text) as { quotes?: LiveQuote[] };
      book.take({ event, id, data } as never);
      for (const { poolAddress } of data.quotes ?? []) {
        changes.set(poolAddress, [...(changes.get(poolAddress) ?? []), performance.now()]);
      }
    },
    ended: () => undefined,
  });
  onTestFinished(close);
  const quotes = () => [...book.quotes.values()].map(({ quote }) => quote as LiveQuote);
  return { book, changes, quotes, close };
}

const isLive = ({ basis }: LiveQuote): boolean => basis?.kind === 'live';
const until = (what: string, isTrue: () => boolean) => expect.poll(isTrue, { interval: 20, message: what }).toBe(true);

test('live changes come between blocks, at most four a second and pool; a block ends what was live before', async () => {
  const { market } = world;
  const { builder } = market;
  const { book, changes, quotes } = openClient();
  await until('all pools', () => quotes().length === market.pools.length);
  for (let block = 0; block < 4; block += 1) {
    let updates: readonly QuoteUpdate[] = [];
    const target = Number(builder.block().number);
    changes.clear();
    const startedAt = performance.now();
    const hasChanges = ({ address }: LivePool) => (changes.get(address)?.length ?? 0) >= MAX_PER_SEC;
    for (let sent = 0; !market.pools.every(hasChanges); sent += 1) {
      updates = await updateAll(market, () => BigInt(190 + (sent % 14) + block));
      // biome-ignore lint/plugin: changes come faster than a stream sends them.
      await sleep(110);
    }
    await until('live quotes', () => quotes().every(isLive));
    const seconds = (performance.now() - startedAt) / 1_000;
    for (const times of changes.values()) {
      expect(times.length).toBeLessThanOrEqual(Math.ceil(seconds) * MAX_PER_SEC + 1);
    }
    expect(quotes().map(({ basis }) => basis?.targetBlockNumber)).toEqual(market.pools.map(() => target));
    // The frame of the last prices may be on its way: a stream leaves out states that requests get before it comes.
    await vi.waitFor(async () => {
      const response = await fetch(`${api.base}/bid_ask/batch`, batchOf(market.pools));
      const asked = (await response.json()) as { readonly results: readonly { readonly quote: LiveQuote }[] };
      expect(quotes().map(key).sort()).toEqual(asked.results.map(({ quote }) => key(quote)).sort());
    });
    expect(updates).toHaveLength(market.pools.length);
    await builder.buildBlock();
    await until('the block', () => book.block === target);
    expect(quotes().filter(isLive)).toEqual([]);
  }
  expect(new Set(book.events)).not.toContain('gap');
});

test('a connection resumes within a block, and gets what changed meanwhile', async () => {
  const { market } = world;
  await updateAll(market, () => 200n);
  const first = openClient();
  await until('live quotes', () => first.quotes().length === 4 && first.quotes().every(isLive) && first.book.isWhole);
  first.close();
  await waitForUpdates(world, await updateAll(market, () => 205n), batchesOf(api));
  const second = openClient(first.book.lastId);
  await until('all changes', () => second.quotes().length === 4 && second.quotes().every(isLive));
  expect(second.book.events).not.toContain('gap');
  expect(second.book.events).not.toContain('snapshot');
});

test.each(['websocket', 'sse', 'batch'] as const)(
  'the client follows the basis that it asks for (%s)',
  async (transport) => {
    const { market, config } = world;
    const pools = market.pools.map(({ address }) => address);
    await waitForUpdates(world, await updateAll(market, () => 201n), batchesOf(api));
    await waitForLive(world, batchesOf(api));
    const fetchBatches: typeof fetch = async (input, init) =>
      String(input).includes('/stream?') ? Response.json({ error: 'no events' }, { status: 503 }) : fetch(input, init);
    for (const basis of ['live', 'committed', undefined] as const) {
      const states = stream({
        url: new URL(api.base).origin,
        chainId: config.chainId,
        pools,
        basis,
        WebSocket: transport === 'websocket' ? WebSocket : undefined,
        ...(transport === 'batch' && { fetch: fetchBatches }),
      });
      for await (const { quotes } of states) {
        if (quotes.size < pools.length) continue;
        const kinds = [...quotes.values()].map((quote) => quote.basis?.kind);
        if (basis === 'committed') expect(kinds).not.toContain('live');
        // What nodes do not give in time is of the last block.
        else if (kinds.includes('committed')) continue;
        else expect(new Set(kinds)).toEqual(new Set(['live']));
        break;
      }
    }
  },
);

const batchOf = (pools: readonly { readonly address: string }[]) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ pools: pools.map(({ address }) => address) }),
});
