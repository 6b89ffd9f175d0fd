import { afterEach, expect, onTestFinished, test } from 'vitest';
import { movePrice } from '../quotes/quote-world.ts';
import { Book } from './book.ts';
import { connectSse, type SseClient } from './sse-client.ts';
import { streamWorld, withoutTime } from './stream-world.ts';

const NO_POOL = `0x${'99'.repeat(20)}`;

const world = streamWorld();
const clients: SseClient[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

async function open(
  query: string,
  book?: Book,
  headers: Record<string, string> = {},
  api = world.api,
): Promise<SseClient> {
  const client = await connectSse(`${api.base}/stream?${query}`, book, headers);
  clients.push(client);
  return client;
}

const isUpToDate = (client: SseClient, block: number) =>
  expect.poll(() => client.book.block ?? -1, WAIT).toBeGreaterThanOrEqual(block);
const WAIT = { interval: 10 };

test.each([true, false])('reports each pool, then what changes, as REST does (depth %s)', async (depth) => {
  const client = await open(`pools=${world.names},${NO_POOL}&depth=${depth}`);
  expect([client.status, client.headers['content-type']]).toEqual([200, 'text/event-stream']);
  await isUpToDate(client, await world.blockNow());
  expect(client.book.failed).toEqual(new Map([[NO_POOL, 404]]));
  const [first] = world.pools;
  await movePrice(world, first, depth ? 2_100 : 2_200);
  await isUpToDate(client, await world.blockNow());
  for (const { address } of world.pools) {
    expect(withoutTime(client.book.quotes.get(address)?.quote)).toEqual(
      withoutTime(await world.restQuote(address, depth)),
    );
  }
  const updates = client.messages.filter(({ event }) => event === 'update');
  const sent = updates.flatMap(({ data }) => (data as { quotes: { poolAddress: string }[] }).quotes);
  expect(sent.map(({ poolAddress }) => poolAddress)).toEqual([first.address]);
});

test('resumes after the last message; an id of other pools is a gap', async () => {
  const [first, second] = world.pools;
  const client = await open(`pools=${world.names}`);
  await isUpToDate(client, await world.blockNow());
  client.close();
  await movePrice(world, second, 1_900);
  const { book } = client;
  const before = book.events.length;
  const again = await open(`pools=${world.names}`, book);
  await isUpToDate(again, await world.blockNow());
  expect(book.events.slice(before)).not.toContain('snapshot');
  expect(book.events.slice(before)).toContain('update');
  expect(withoutTime(book.quotes.get(second.address)?.quote)).toEqual(
    withoutTime(await world.restQuote(second.address, true)),
  );
  again.close();
  const other = new Book();
  other.lastId = '000000000000-7';
  const fromElsewhere = await open(`pools=${first.address}`, other);
  await isUpToDate(fromElsewhere, await world.blockNow());
  expect(other.events.slice(0, 2)).toEqual(['gap', 'snapshot']);
});

test('a pool of which clients heard is read when the block comes: a request finds it there', async () => {
  const [first] = world.pools;
  await world.restQuote(first.address, true);
  const { requested, warmer } = world.api.chain;
  let warmed = -1;
  warmer.onResult((result) => {
    if (result?.kind === 'depths') warmed = Number(result.block.number);
  });
  await movePrice(world, first, 2_050);
  const block = await world.blockNow();
  expect(requested.list().map(({ address }) => address)).toContain(first.address);
  await expect.poll(() => warmed, WAIT).toBeGreaterThanOrEqual(block);
  const before = world.api.lookups.length;
  await world.restQuote(first.address, true);
  expect(world.api.lookups.slice(before)).toEqual(['cached']);
});

test('all listed pools come with a key alone; one that is listed joins, one that is removed is reported', async () => {
  expect((await open('depth=false')).status).toBe(401);
  const [, , third] = world.pools;
  const listed = world.table.find(31337, third.address);
  if (!listed) throw new Error('the pool is not served');
  world.table.remove(listed, 'not_served');
  const client = await open('depth=false', undefined, { Authorization: 'Bearer good' });
  await expect.poll(() => client.book.quotes.size, WAIT).toBe(2);
  world.table.put(listed);
  await expect.poll(() => client.book.quotes.has(third.address), WAIT).toBe(true);
  world.table.remove(listed, 'not_served');
  await expect.poll(() => [...client.book.removed], WAIT).toEqual([third.address]);
  expect(client.book.quotes.size).toBe(2);
  world.table.put(listed);
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
  const client = await open(`pools=${world.names}`);
  await isUpToDate(client, await world.blockNow());
  expect(world.api.connections.size).toBe(1);
  client.close();
  await expect.poll(() => world.api.connections.size, WAIT).toBe(0);
});

test('says bye when the process stops', async () => {
  const api = await world.startApi();
  onTestFinished(api.stop);
  const openThere = () => open(`pools=${world.names}`, undefined, {}, api);
  const client = await openThere();
  await isUpToDate(client, await world.blockNow());
  api.closeStreams();
  await client.ended;
  const last = client.messages.at(-1);
  expect([last?.event, last?.data]).toMatchObject(['bye', { reason: 'shutdown' }]);
  expect((await openThere()).status).toBe(503);
});
