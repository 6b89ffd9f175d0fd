import type { Address } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { evenBins } from '../../devnet/pools.ts';
import type { PoolTable } from '../../quoting/pools/pool-directory.ts';
import {
  chainConfig,
  evenShares,
  makePool,
  movePrice,
  type QuoteWorld,
  SHARES_OF_ONE,
  startQuoteWorld,
  type WorldPool,
} from '../quotes/quote-world.ts';
import { fixedDirectory, servedPool } from '../quotes/served-pool.ts';
import { Book } from './book.ts';
import { connectSse, type SseClient } from './sse-client.ts';
import { type StreamApi, startStreamApi } from './stream-api.ts';

const NO_POOL = `0x${'99'.repeat(20)}`;

let world: QuoteWorld;
let pools: WorldPool[];
let table: PoolTable;
let api: StreamApi;
let names: string;
const clients: SseClient[] = [];

beforeAll(async () => {
  world = await startQuoteWorld();
  const pair = await world.pair(18, 6);
  const shares = evenShares(-2, 2, SHARES_OF_ONE);
  pools = [];
  for (let count = 0; count < 3; count++) {
    pools.push(await makePool(world, { pair, price: 2_000, bins: evenBins(-2, 2, 1_000), shares }));
  }
  names = pools.map(({ address }) => address).join(',');
  const served = await Promise.all(pools.map(({ address }) => servedPool(world.chain, world.deployment, address)));
  const directory = fixedDirectory(served);
  table = await directory.table();
  api = await startStreamApi({ chain: chainConfig(31337, [world.anvil.url], { blockTimeMs: 200 }), directory });
});

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

afterAll(async () => {
  await api.stop();
  await world.stop();
});

async function open(query: string, book?: Book, headers: Record<string, string> = {}): Promise<SseClient> {
  const client = await connectSse(`${api.base}/stream?${query}`, book, headers);
  clients.push(client);
  return client;
}

const blockNow = async () => Number(await world.chain.client.getBlockNumber());
const isUpToDate = (client: SseClient, block: number) =>
  expect.poll(() => client.book.block ?? -1, WAIT).toBeGreaterThanOrEqual(block);
const WAIT = { timeout: 10_000, interval: 10 };
const quoteOf = async (pool: Address, depth: boolean) =>
  (await fetch(`${api.base}/${pool}/bid_ask?depth=${depth}`)).json() as Promise<Record<string, unknown>>;
const withoutTime = (quote: object | undefined) => ({ ...quote, serverTs: 0 });

test.each([true, false])('reports each pool, then what changes, as REST does (depth %s)', async (depth) => {
  const client = await open(`pools=${names},${NO_POOL}&depth=${depth}`);
  expect([client.status, client.headers['content-type']]).toEqual([200, 'text/event-stream']);
  await isUpToDate(client, await blockNow());
  expect(client.book.failed).toEqual(new Map([[NO_POOL, 404]]));
  const [first] = pools as [WorldPool];
  await movePrice(world, first, depth ? 2_100 : 2_200);
  await isUpToDate(client, await blockNow());
  for (const { address } of pools) {
    expect(withoutTime(client.book.quotes.get(address)?.quote)).toEqual(withoutTime(await quoteOf(address, depth)));
  }
  const updates = client.messages.filter(({ event }) => event === 'update');
  const sent = updates.flatMap(({ data }) => (data as { quotes: { poolAddress: string }[] }).quotes);
  expect(sent.map(({ poolAddress }) => poolAddress)).toEqual([first.address]);
});

test('resumes after the last message; an id of other pools is a gap', async () => {
  const [first, second] = pools as [WorldPool, WorldPool];
  const client = await open(`pools=${names}`);
  await isUpToDate(client, await blockNow());
  client.close();
  await movePrice(world, second, 1_900);
  const { book } = client;
  const before = book.events.length;
  const again = await open(`pools=${names}`, book);
  await isUpToDate(again, await blockNow());
  expect(book.events.slice(before)).not.toContain('snapshot');
  expect(book.events.slice(before)).toContain('update');
  expect(withoutTime(book.quotes.get(second.address)?.quote)).toEqual(withoutTime(await quoteOf(second.address, true)));
  again.close();
  const other = new Book();
  other.lastId = '000000000000-7';
  const fromElsewhere = await open(`pools=${first.address}`, other);
  await isUpToDate(fromElsewhere, await blockNow());
  expect(other.events.slice(0, 2)).toEqual(['gap', 'snapshot']);
});

test('a pool of which clients heard is read when the block comes: a request finds it there', async () => {
  const [first] = pools as [WorldPool];
  await quoteOf(first.address, true);
  await movePrice(world, first, 2_050);
  const block = await blockNow();
  const { requested } = api.chain;
  expect(requested.list().map(({ address }) => address)).toContain(first.address);
  await new Promise<void>((resolve) => {
    api.chain.warmer.onResult((round) => {
      if (round?.kind === 'depths' && Number(round.block.number) >= block) resolve();
    });
  });
  const before = api.lookups.length;
  await quoteOf(first.address, true);
  expect(api.lookups.slice(before)).toEqual(['cached']);
});

test('all listed pools come with a key alone; one that is listed joins, one that is removed is reported', async () => {
  expect((await open('depth=false')).status).toBe(401);
  const [, , third] = pools as [WorldPool, WorldPool, WorldPool];
  const listed = table.find(31337, third.address);
  if (!listed) throw new Error('the pool is not served');
  table.remove(listed, 'not_served');
  const client = await open('depth=false', undefined, { Authorization: 'Bearer good' });
  await expect.poll(() => client.book.quotes.size, WAIT).toBe(2);
  table.put(listed);
  await expect.poll(() => client.book.quotes.has(third.address), WAIT).toBe(true);
  table.remove(listed, 'not_served');
  await expect.poll(() => [...client.book.removed], WAIT).toEqual([third.address]);
  expect(client.book.quotes.size).toBe(2);
  table.put(listed);
  await expect.poll(() => client.book.quotes.has(third.address), WAIT).toBe(true);
});

test.each([
  ['no pool', 'pools=', 400],
  ['a malformed address', 'pools=0x12', 400],
  [
    'too many pools',
    `pools=${Array.from({ length: 501 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`).join(',')}`,
    400,
  ],
  ['a bad depth', `pools=${NO_POOL}&depth=maybe`, 400],
])('refuses %s', async (_case, query, status) => {
  expect((await open(query)).status).toBe(status);
});

test('ends in order, and frees what it held', async () => {
  const client = await open(`pools=${names}`);
  await isUpToDate(client, await blockNow());
  expect(api.connections.size).toBe(1);
  client.close();
  await expect.poll(() => api.connections.size, WAIT).toBe(0);
});

test('says bye when the process stops', async () => {
  const client = await open(`pools=${names}`);
  await isUpToDate(client, await blockNow());
  api.closeStreams();
  await client.ended;
  const last = client.messages.at(-1);
  expect([last?.event, last?.data]).toMatchObject(['bye', { reason: 'shutdown' }]);
  expect((await open(`pools=${names}`)).status).toBe(503);
});
