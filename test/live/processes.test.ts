import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { z } from 'zod';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { LiveConfig } from '../../config/live-schema.ts';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import { startPartNode } from '../../devnet/parts/part-node.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import type { Basis } from '../../quoting/quote-basis.ts';
import { freePort } from '../../runtime/free-port.ts';
import { startedWorld } from '../harness/open-world.ts';
import { Book } from '../stream/book.ts';
import { connectSse } from '../stream/stream-connection.ts';
import { decodeBuilderOverrides } from '../takers/decoders.ts';
import { connectTexts } from '../takers/levels-client.ts';
import { startCapturedWorld } from './captured-world.ts';
import { type Batch, type LiveQuote, relayerSource, updateAll } from './live-world.ts';

/*
 * Live prices in API processes of one Redis: what one of them learns, ends or misses, the others show as they should.
 */

const HOST = '127.0.0.1';
const START_LIMIT_MS = 60_000;
/** Prices end because something says so: nothing here takes as long as this. */
const MAX_AGE_MS = 60_000;
const WAIT = { interval: 20 };
/** One that processes share what they read under. */
const PREFIX = randomUUID();

const folder = startedWorld(() => createTempFolder('live-processes'));
const world = startedWorld(() => startCapturedWorld({ flatPools: 1, packedPools: 1 }, () => null));
// It reads the sources by itself.
beforeAll(() => world.api.stop());
beforeEach(() => world.market.builder.resume());

type Api = Awaited<ReturnType<typeof startApi>>;

/** Starts an API process, which ends with the test. @param nodes in place of those of the world */
async function startApi(
  live: z.input<typeof LiveConfig> = relayerSource(world.market),
  prefix = PREFIX,
  nodes: Partial<Pick<ChainConfig, 'rpcUrls' | 'wsUrls'>> = {},
) {
  const port = await freePort();
  const url = `http://${HOST}:${port}`;
  const config = join(folder.path, `${port}.json`);
  const chains = world.file.chains.map((chain) => ({ ...chain, ...nodes, live: { ...live, maxAgeMs: MAX_AGE_MS } }));
  await writeFile(config, JSON.stringify({ ...world.file, chains, limits: { enabled: false } }));
  const { stop, kill } = await startOwnProcess({
    main: 'api',
    env: {
      CHAINS_CONFIG: config,
      DATABASE_URL: world.databaseUrl,
      DATABASE_REPLICA_URL: undefined,
      REDIS_URL: inject('redisUrl'),
      QUEUE_PREFIX: prefix,
      HOST,
      PORT: String(port),
      LOG_LEVEL: 'warn',
      EXPLORER: 'off',
    },
    ready: `${url}/health`,
    startTimeoutMs: START_LIMIT_MS,
  });
  onTestFinished(stop);
  return { url, stop, kill };
}

const pools = () => world.market.pools.map(({ address }) => address);
const everyPool = <T>(value: T): readonly T[] => pools().map(() => value);

/** What a process says of the pools over REST. */
async function batchOf({ url }: Pick<Api, 'url'>) {
  const response = await fetch(`${url}/public/v1/evm/${world.config.chainId}/bid_ask/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ pools: pools() }),
  });
  return ((await response.json()) as Batch).results;
}

const kindsOf = async (api: Pick<Api, 'url'>): Promise<readonly unknown[]> =>
  (await batchOf(api)).map((result) => ('quote' in result ? result.quote.basis?.kind : result.error.error));

const until = (api: Api, kind: Basis) => expect.poll(() => kindsOf(api), WAIT).toEqual(everyPool(kind));

const untilConnections = (count: number) => expect.poll(() => world.market.builder.connections(), WAIT).toBe(count);

function cancelAll(): void {
  for (const pool of world.market.pools) world.market.builder.cancel(pool);
}

/** A client of all pools. */
function connect(api: Api, { book = new Book(), basis = 'live' as Basis } = {}) {
  book.reconnect();
  const wanted = { chainId: world.config.chainId, pools: pools(), depth: false, basis, after: book.lastId };
  const { close } = connectSse(api.url, wanted, {
    message: (event, id, text) => book.take({ event, id, data: JSON.parse(text) } as never),
    ended: () => undefined,
  });
  onTestFinished(close);
  return { book, close };
}

/** What a client holds that says of which block it is. */
const held = ({ block, quotes }: Book): readonly unknown[] =>
  block === null ? [] : [...quotes.values()].map(({ quote }) => (quote as LiveQuote).basis?.kind);

/** Lets two blocks pass: no quote is new at the second. */
async function passBlocks(books: readonly Book[]): Promise<void> {
  for (const _ of [1, 2]) {
    const number = Number(world.market.builder.block().number);
    await world.market.builder.buildBlock();
    for (const book of books) await expect.poll(() => book.block, WAIT).toBe(number);
  }
}

test('the last live price that is cancelled ends in all processes; a process that becomes the reader keeps those of others', {
  timeout: 120_000,
}, async () => {
  const { builder } = world.market;
  const first = await startApi();
  await updateAll(world.market, () => 200n);
  await until(first, 'live');
  const second = await startApi();
  await until(second, 'live');
  // One that waits for Redis reads the sources by itself for a moment.
  await untilConnections(1);
  cancelAll();
  for (const api of [first, second]) await until(api, 'committed');
  await updateAll(world.market, () => 201n);
  for (const api of [first, second]) await until(api, 'live');
  // Nothing comes from the source any more.
  builder.pause();
  await Promise.all([first.stop(), untilConnections(0)]);
  await untilConnections(1);
  expect(await kindsOf(second)).toEqual(everyPool('live'));
  cancelAll();
  builder.resume();
  await until(second, 'committed');
});

/** Reads which block the overrides that a process passes on are of, frame by frame, and whether there are any. */
async function passedOnBy({ url }: Pick<Api, 'url'>) {
  const { texts } = await connectTexts(`${url}/public/v1/evm/${world.config.chainId}/ws/pamm_quote_stream`);
  return () =>
    texts.map(({ text }) => {
      const { blockNumber, venues } = decodeBuilderOverrides(text);
      return { number: blockNumber, hasAny: venues.size > 0 };
    });
}

test('overrides of a block do not go out under the number of the next one, which another process has named', {
  timeout: 120_000,
}, async () => {
  const { market } = world;
  const { builder } = market;
  const node = await startRpcProxy(market.chain.rpcUrl);
  onTestFinished(node.stop);
  const { sources } = relayerSource(market);
  const live = { sources: sources.map((source) => ({ ...source, republish: true })) };
  const prefix = randomUUID();
  // It reads the source for both.
  const behind = await startApi(live, prefix, { rpcUrls: [node.url], wsUrls: undefined });
  const ahead = await startApi(live, prefix);
  const { number } = builder.block();
  await updateAll(market, () => 203n);
  const [frames, framesAhead] = [await passedOnBy(behind), await passedOnBy(ahead)];
  const last = (of: typeof frames) => expect.poll(() => of().at(-1), WAIT);
  for (const each of [frames, framesAhead]) await last(each).toEqual({ number, hasAny: true });
  // The source repeats what it said of this block, whatever is built.
  builder.pause();
  const call = { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"pamm_getPammStateOverrides","params":[]}' };
  const { result } = (await (await fetch(builder.relayerRpcUrl, call)).json()) as { readonly result: object };
  const said = JSON.stringify({ jsonrpc: '2.0', method: 'pamm_subscription', params: { result } });
  const repeats = setInterval(() => builder.sendRaw(said), 50);
  onTestFinished(() => clearInterval(repeats));
  node.misbehave({ kind: 'behind', block: number - 1n });
  await builder.buildBlock();
  const next = { number: number + 1n, hasAny: false };
  for (const each of [framesAhead, frames]) await last(each).toEqual(next);
  // It has them still.
  const targets = async () =>
    (await batchOf(behind)).map((result) => 'quote' in result && result.quote.basis?.targetBlockNumber);
  await expect.poll(targets, WAIT).toEqual(everyPool(Number(number)));
  const shown = frames().length;
  await expect.poll(() => frames().length, WAIT).toBeGreaterThan(shown + 2);
  const named = [...frames(), ...framesAhead()].filter((frame) => frame.number > number);
  expect(new Set(named.map(({ hasAny }) => hasAny))).toEqual(new Set([false]));
  clearInterval(repeats);
  node.misbehave(null);
  builder.resume();
  await updateAll(market, () => 204n);
  for (const each of [frames, framesAhead]) await last(each).toEqual({ ...next, hasAny: true });
});

test('a client that resumes elsewhere, or on another basis, keeps no live price that is not so there', {
  timeout: 120_000,
}, async () => {
  const first = await startApi();
  // Its source never says anything.
  const deaf = await startApi({ sources: [{ kind: 'own' }] }, randomUUID());
  const others = [connect(deaf), connect(first, { basis: 'committed' })];
  const client = connect(first);
  await passBlocks([client, ...others].map(({ book }) => book));
  const becomesLive = async () => {
    await updateAll(world.market, () => 202n);
    await expect.poll(() => held(client.book), WAIT).toEqual(everyPool('live'));
    client.close();
  };
  await becomesLive();
  for (const [api, basis] of [
    [deaf, 'live'],
    [first, 'live'],
    [first, 'committed'],
  ] as const) {
    const { lastId, events } = client.book;
    expect(lastId).toBeDefined();
    const before = events.length;
    const { close } = connect(api, { book: client.book, basis });
    const kind = api === first && basis === 'live' ? 'live' : 'committed';
    await expect.poll(() => client.book.block, WAIT).not.toBeNull();
    expect([held(client.book), events.slice(before)]).toEqual([everyPool(kind), ['update']]);
    close();
  }
});

test('when processes that read for all are killed, the others quote a part of after that within 800 ms', {
  timeout: 120_000,
}, async () => {
  const partsPerBlock = 20;
  const node = await startPartNode(world.market.chain, { form: 'payload', partsPerBlock });
  onTestFinished(node.stop);
  const prefix = randomUUID();
  const open = async () => {
    const proxy = await startRpcProxy(node.url);
    onTestFinished(proxy.stop);
    const urls = { rpcUrls: [proxy.url], wsUrls: [node.wsUrl] };
    const api = await startApi({ sources: [{ kind: 'preconfirmed', ...urls, maxAgeMs: MAX_AGE_MS }] }, prefix);
    return { ...api, calls: () => proxy.requests.length };
  };
  const apis = await Promise.all([open(), open(), open()]);
  const [pool] = world.market.pools;
  if (!pool) throw new Error('no pool');
  let hundredths = 150n;
  const bids = new Set<string>();
  const bidOf = async (api: Pick<Api, 'url'>) => {
    const [result] = await batchOf(api);
    const quote = result && 'quote' in result ? result.quote : undefined;
    return quote?.basis?.kind === 'live' && quote.priceProviderStatus === 'healthy' && quote.bidAdj;
  };
  /** Gives the pool the price with the next part. */
  const submit = async () => {
    const { number, timeSecs } = node.part();
    node.submit((await pool.maker.sign({ number, timeSecs, slot: 0n }, priceAround(hundredths))).transaction);
  };
  /** Waits until processes quote what none did before. */
  const newBids = async (of: readonly Pick<Api, 'url'>[]) => {
    const shown = of.map((api) =>
      vi.waitUntil(async () => {
        const bid = await bidOf(api);
        return bid && !bids.has(bid) && bid;
      }, WAIT),
    );
    for (const bid of await Promise.all(shown)) bids.add(bid);
  };
  /** Shows a part with a price of its own, until these processes quote it. */
  const showPart = async (of: readonly Pick<Api, 'url'>[]) => {
    if (node.part().index + 1 === partsPerBlock) await node.nextPart();
    hundredths += 1n;
    await submit();
    await node.nextPart();
    await newBids(of);
  };
  /**
   * Kills a process, or none, while there is a part each 100 ms.
   *
   * @returns how many come before all others quote one of them
   */
  const partsUntilQuoted = async (others: readonly Api[], killed?: Api): Promise<number> => {
    // Prices hold for a block.
    while (node.part().index > 2) await node.nextPart();
    hundredths += 1n;
    const end = node.run(submit);
    await newBids(killed ? [killed, ...others] : others);
    const { number, index } = node.part();
    hundredths += 1n;
    await killed?.kill();
    await newBids(others);
    const quoted = node.part();
    await end();
    // With what was submitted last.
    await node.nextPart();
    expect(quoted.number).toBe(number);
    return quoted.index - index;
  };
  for (const _ of [1, 2, 3, 4]) await showPart(apis);
  const before = apis.map((api) => api.calls());
  for (const _ of [1, 2, 3]) await showPart(apis);
  const made = new Map(apis.map((api, index) => [api, api.calls() - (before[index] ?? 0)]));
  // One reads which part it is, and the same or another one reads the pools.
  const [first, second, last] = apis.toSorted((one, other) => (made.get(other) ?? 0) - (made.get(one) ?? 0));
  if (!first || !second || !last) throw new Error('no process');
  // As many as without an end, and two or three. A claim of a dead process that holds would take 20.
  const anyway = await partsUntilQuoted(apis);
  expect(await partsUntilQuoted([second, last], first)).toBeLessThanOrEqual(anyway + 6);
  for (const _ of [1, 2]) await showPart([second, last]);
  expect(await partsUntilQuoted([last], second)).toBeLessThanOrEqual(anyway + 6);
});
