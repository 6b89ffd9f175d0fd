import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { KEY, WAIT, webSocketWorld } from './ws-world.ts';

const { world, open } = webSocketWorld();

/** A `ping` of which this many objects and arrays are inside of each other. */
function nested(depth: number): string {
  return `{"op":"ping","id":1,"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
}

/** Stops the clock of the limits until the test ends: what a client sends is of one second, however late it is read. */
function stopClock(): void {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
}

const isTooMany = (answer: object) => 'status' in answer && answer.status === 429;

describe('an operation that is refused changes nothing and is named', () => {
  const many = Array.from({ length: 501 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`);
  test.each([
    ['no JSON', '{', null, 400],
    ['no operation', { op: 'dance', id: 'a' }, 'a', 400],
    ['no id', { op: 'ping' }, null, 400],
    ['a field too many', { op: 'ping', id: 7, x: 1 }, 7, 400],
    ['no address', { op: 'subscribe', id: 1, pools: ['0x12'] }, 1, 400],
    ['no pools', { op: 'subscribe', id: 1, pools: [] }, 1, 400],
    ['too many pools', { op: 'subscribe', id: 1, pools: many }, 1, 400],
    ['all pools without a key', { op: 'subscribe', id: 1 }, 1, 401],
  ])('%s', async (_name, operation, id, status) => {
    const client = await open();
    expect(await client.ask(operation)).toMatchObject({ event: 'error', id, status });
    expect(await client.ask({ op: 'ping', id: 2 })).toEqual({ event: 'ack', id: 2 });
  });

  test('too many pools in a minute', async () => {
    stopClock();
    const client = await open();
    for (const id of [1, 2]) await client.ask({ op: 'subscribe', id, pools: many.slice(1) });
    const rejected = await client.ask({ op: 'subscribe', id: 3, pools: many.slice(1, 2) });
    expect(rejected).toMatchObject({ status: 429, retryMs: expect.any(Number) });
  });

  test('more than ten in a second', async () => {
    stopClock();
    const client = await open();
    for (let id = 1; id <= 11; id++) client.send({ op: 'ping', id });
    // Not even its id is read.
    const refusal = { event: 'error', id: null, status: 429, retryMs: 1_000 };
    await expect.poll(() => client.answers, WAIT).toContainEqual(expect.objectContaining(refusal));
    await expect.poll(() => client.answers, WAIT).toContainEqual({ event: 'ack', id: 10 });
    expect(client.answers).not.toContainEqual(expect.objectContaining({ id: 11 }));
  });

  test('more than 64 KiB in a second, of which no more is read', async () => {
    stopClock();
    const client = await open();
    const ping = (id: number, bytes: number) => {
      const text = JSON.stringify({ op: 'ping', id });
      client.send(text + ' '.repeat(bytes - text.length));
    };
    for (const id of [1, 2, 3, 4]) ping(id, 20_000);
    ping(5, 5_000);
    await expect.poll(() => client.answers.length, WAIT).toBe(5);
    for (const id of [1, 2, 3, 5]) expect(client.answers).toContainEqual({ event: 'ack', id });
    expect(client.answers).toContainEqual(expect.objectContaining({ id: null, status: 429 }));
  });

  test('ten times as much; a client that continues is disconnected', async () => {
    stopClock();
    const client = await open();
    for (let n = 0; n < 20; n++) client.send('['.repeat(64 * 1024));
    expect(await client.closed).toEqual([1008, 'limits']);
    // The first is read, and each of the others counts as eleven of a hundred.
    expect(client.answers.map(isTooMany)).toEqual([false, ...Array(9).fill(true)]);
  });

  test.each([
    ['deep', nested(20_000), null],
    ['wide', `{"op":"ping","id":1,"x":[${Array(20_000).fill(1)}]}`, null],
    ['a long number', `{"op":"ping","id":${'9'.repeat(1_001)}}`, null],
    ['less deep', nested(32), 1],
  ])('%s', async (_name, text, id) => {
    const client = await open();
    const reason = id === null ? /nested too deeply|too many values|too long/ : /Unrecognized key: "x"/;
    const error = expect.stringMatching(reason);
    expect(await client.ask(text)).toEqual({ event: 'error', id, status: 400, error });
  });

  test('too many in a second; a client that continues is disconnected', async () => {
    stopClock();
    const client = await open();
    for (let id = 0; id < 500; id++) client.send(id % 2 ? '' : { op: 'ping', id });
    expect(await client.closed).toEqual([1008, 'limits']);
    const rejected = client.answers.filter(isTooMany);
    expect(rejected).toHaveLength(100);
    expect(rejected[0]).toMatchObject({ retryMs: 1_000 });
  });
});

describe('a key', () => {
  test.each([
    ['in the header', KEY, []],
    ['in the first operation', {}, [{ op: 'auth', id: 1, key: 'good' }]],
  ])('%s: all listed pools may be had, and its connections are counted', async (_name, headers, operations) => {
    const client = await open(headers);
    for (const operation of operations) expect((await client.ask(operation)).event).toBe('ack');
    expect(world.api.connections.keyIds).toEqual(['k1']);
    expect((await client.ask({ op: 'subscribe', id: 2, depth: false })).event).toBe('ack');
    await expect.poll(() => client.book.quotes.size, WAIT).toBe(world.pools.length);
  });

  test.each([
    ['one that is not valid', {}, [{ op: 'auth', id: 1, key: 'bad' }], 401],
    [
      'one that comes late',
      {},
      [
        { op: 'ping', id: 1 },
        { op: 'auth', id: 1, key: 'good' },
      ],
      400,
    ],
    ['a second one', KEY, [{ op: 'auth', id: 1, key: 'good' }], 400],
  ])('%s ends the connection', async (_name, headers, operations, status) => {
    const client = await open(headers);
    for (const operation of operations) client.send(operation);
    expect(await client.closed).toEqual([1008, 'auth']);
    expect(client.answers.at(-1)).toMatchObject({ event: 'error', status });
  });

  test('that is revoked ends its connections, subscribed or not', async () => {
    const [subscribed, idle] = [await open(KEY), await open(KEY)];
    await subscribed.ask({ op: 'subscribe', id: 1, pools: world.names });
    world.api.connections.end('key_revoked', 'k1');
    expect([(await subscribed.closed)[0], (await idle.closed)[0]]).toEqual([1001, 1001]);
    expect([subscribed.book.events.at(-1), idle.book.events]).toEqual(['bye', ['bye']]);
  });
});
