import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type StreamOptions, type StreamState, stream } from '../stream.ts';
import type { WebSocketLike } from './web-socket.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const POOL = `0x${'aa'.repeat(20)}`;

/** A service at the other end of WebSockets, which answers until it is dead. */
function startService() {
  const service = { isDead: false, opened: 0, pings: 0, send: (_block: number): void => undefined };
  class Socket implements WebSocketLike {
    onopen: WebSocketLike['onopen'] = null;
    onmessage: WebSocketLike['onmessage'] = null;
    onerror: WebSocketLike['onerror'] = null;
    onclose: WebSocketLike['onclose'] = null;
    #seq = 0;

    constructor() {
      service.opened += 1;
      service.send = (block) => {
        const [prevSeq, seq] = [this.#seq || null, ++this.#seq];
        this.#give({
          event: 'heartbeat',
          seq,
          prevSeq,
          blockNumber: block,
          blockHash: '0x',
          blockTimestamp: 900 + block,
        });
      };
      setTimeout(() => this.onopen?.(undefined as never), 0);
    }

    send(text: string): void {
      const { op, id } = JSON.parse(text);
      this.#give({ event: 'ack', id });
      if (op === 'subscribe') service.send(5);
      if (op === 'ping') service.pings += 1;
    }

    close(): void {
      this.onmessage = null;
    }

    #give(message: object): void {
      if (!service.isDead) this.onmessage?.({ data: JSON.stringify(message) } as never);
    }
  }
  return { service, Socket };
}

/** A heartbeat as an event. */
const heartbeat = (seq: number, block: number) => {
  const head = { seq, prevSeq: seq - 1 || null, blockNumber: block, blockHash: '0x', blockTimestamp: 900 + block };
  return `event: heartbeat\nid: a\ndata: ${JSON.stringify(head)}\n\n`;
};

/** A service that sends events, and comments between them if it is not an older one. */
function startEvents() {
  const service = { isDead: false, opened: 0, send: (_text: string) => undefined as unknown };
  const fetch: typeof globalThis.fetch = async (_, init) => {
    service.opened += 1;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
        service.send = (text) => service.isDead || controller.enqueue(new TextEncoder().encode(text));
        service.send(heartbeat(1, 5));
      },
    });
    return new Response(body);
  };
  return { service, fetch };
}

async function followEvents() {
  const { service, fetch } = startEvents();
  return { service, ...(await follow({ WebSocket: undefined, fetch })) };
}

async function followSocket() {
  const { service, Socket } = startService();
  return { service, ...(await follow({ WebSocket: Socket })) };
}

async function follow(transport: Pick<StreamOptions, 'WebSocket' | 'fetch' | 'silenceMs'>) {
  const states: StreamState[] = [];
  const stop = new AbortController();
  const options = { url: 'http://localhost', chainId: 1, pools: [POOL], signal: stop.signal, ...transport };
  void (async () => {
    for await (const state of stream(options)) states.push(state);
  })();
  await vi.advanceTimersByTimeAsync(0);
  expect(states.at(-1)?.block?.number).toBe(5);
  return { states, stop };
}

test('a connection that dies silently is noticed within 6 s, and the age of the state shows it before', async () => {
  const { service, states, stop } = await followSocket();
  service.isDead = true;
  await vi.advanceTimersByTimeAsync(5_900);
  expect([states.at(-1)?.block?.number, states.at(-1)?.ageMs()]).toEqual([5, 5_900]);
  await vi.advanceTimersByTimeAsync(200);
  expect(states.at(-1)?.block).toBeNull();
  expect(states.at(-1)?.ageMs()).toBe(6_100);
  service.isDead = false;
  await vi.advanceTimersByTimeAsync(500);
  expect([states.at(-1)?.block?.number, service.opened]).toEqual([5, 2]);
  stop.abort();
});

test('a connection with a message a second is not pinged', async () => {
  const { service, stop } = await followSocket();
  for (let block = 6; block < 36; block++) {
    await vi.advanceTimersByTimeAsync(1_000);
    service.send(block);
  }
  expect(service.pings).toBe(0);
  stop.abort();
});

test('while pings are answered a state without news stays, and young; one that was replaced ages', async () => {
  const { service, states, stop } = await followSocket();
  const [first] = states;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([states.length, service.opened, first?.ageMs()]).toEqual([1, 1, 0]);
  service.send(6);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([first?.ageMs(), states.at(-1)?.block?.number, states.at(-1)?.ageMs()]).toEqual([10_000, 6, 0]);
  stop.abort();
});

test('a state ages while the machine sleeps, and when its clock is set back', async () => {
  const { states, stop } = await followSocket();
  vi.setSystemTime(Date.now() + 3_600_000);
  expect(states.at(-1)?.ageMs()).toBe(3_600_000);
  vi.setSystemTime(Date.now() - 7_200_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(states.at(-1)?.ageMs()).toBe(1_000);
  stop.abort();
});

test('a connection that may be silent for ever is never dead', async () => {
  const { service, Socket } = startService();
  const { states, stop } = await follow({ WebSocket: Socket, silenceMs: Number.POSITIVE_INFINITY });
  service.isDead = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([states.at(-1)?.block?.number, service.opened]).toEqual([5, 1]);
  stop.abort();
});

test('events with comments between them are dead after 6 s of silence, those of an older service after 20 s', async () => {
  for (const [isOld, silenceMs] of [
    [false, 6_000],
    [true, 20_000],
  ] as const) {
    const { service, states, stop } = await followEvents();
    for (let second = 0; second < 30 && !isOld; second += 2) {
      await vi.advanceTimersByTimeAsync(2_000);
      service.send(':\n');
    }
    await vi.advanceTimersByTimeAsync(0);
    expect([states.length, service.opened, states[0]?.ageMs()]).toEqual([1, 1, 0]);
    service.isDead = true;
    await vi.advanceTimersByTimeAsync(silenceMs - 1);
    expect([states.at(-1)?.block?.number, states.at(-1)?.ageMs()]).toEqual([5, silenceMs - 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(states.at(-1)?.block).toBeNull();
    stop.abort();
  }
});

test('events are read whole, in whatever pieces they and the comments before them come', async () => {
  const { service, states, stop } = await followEvents();
  const text = `:\n:\n${heartbeat(2, 6)}:\n${heartbeat(3, 7)}:\n\n: a comment\n${heartbeat(4, 8)}`;
  for (const piece of [text.slice(0, 1), text.slice(1, 9), text.slice(9, -1), text.slice(-1)]) {
    service.send(piece);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(states.map(({ block }) => block?.number)).toEqual([5, 7, 8]);
  expect(service.opened).toBe(1);
  stop.abort();
});

test('a piece of an event of an older service is no comment', async () => {
  const { service, states, stop } = await followEvents();
  const text = heartbeat(2, 6);
  service.send(text.slice(0, 20));
  await vi.advanceTimersByTimeAsync(15_000);
  expect([states.at(-1)?.block?.number, states.at(-1)?.ageMs()]).toEqual([5, 15_000]);
  service.send(text.slice(20));
  await vi.advanceTimersByTimeAsync(0);
  expect([states.at(-1)?.block?.number, service.opened]).toEqual([6, 1]);
  stop.abort();
});

/** A service that refuses streams and answers batches, unless it is to leave requests of these paths unanswered. */
function startBatches() {
  const service = { unanswered: [] as readonly string[], batchMs: 0, streamsTried: 0 };
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const path = String(url).replace(/^.*\/evm\/1|\?.*$/g, '');
    if (service.unanswered.includes(path))
      await new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    if (path === '/stream') {
      service.streamsTried += 1;
      return new Response(null, { status: 503 });
    }
    if (service.batchMs > 0) await new Promise((go) => setTimeout(go, service.batchMs));
    const headers = { 'X-Block-Number': '5', 'X-Block-Hash': '0x' };
    return Response.json({ results: [{ poolAddress: POOL, quote: { poolAddress: POOL, serverTs: 0 } }] }, { headers });
  };
  return { service, fetch };
}

test('quotes of batches end after 6 s of silence, also while streams are tried again', async () => {
  for (const path of ['/bid_ask/batch', '/stream']) {
    const { service, fetch } = startBatches();
    const { states, stop } = await follow({ WebSocket: undefined, fetch });
    await vi.advanceTimersByTimeAsync(1_000);
    service.unanswered = [path];
    await vi.advanceTimersByTimeAsync(path === '/stream' ? 29_000 : 1_000);
    await vi.advanceTimersByTimeAsync(6_000);
    expect([states.at(-1)?.block, states.at(-1)?.quotes.size]).toEqual([null, 0]);
    service.unanswered = [];
    await vi.advanceTimersByTimeAsync(20_000);
    expect(states.at(-1)?.block?.number).toBe(5);
    stop.abort();
  }
});

test('quotes of a batch age while the service reads', async () => {
  const { service, fetch } = startBatches();
  const { states, stop } = await follow({ WebSocket: undefined, fetch });
  service.batchMs = 5_000;
  await vi.advanceTimersByTimeAsync(7_000);
  expect(states.map((state) => [state.block?.number, state.ageMs()]).at(-1)).toEqual([5, 5_000]);
  stop.abort();
});

test('streams are tried again after 30 s, also when the clock is set back', async () => {
  const { service, fetch } = startBatches();
  const { stop } = await follow({ WebSocket: undefined, fetch });
  vi.setSystemTime(Date.now() - 3_600_000);
  await vi.advanceTimersByTimeAsync(35_000);
  expect(service.streamsTried).toBe(2);
  stop.abort();
});

test('a block has its time, but that of batches', async () => {
  for (const [followed, timestamp] of [
    [await followSocket(), 905],
    [await followEvents(), 905],
    [await follow({ WebSocket: undefined, fetch: startBatches().fetch }), null],
  ] as const) {
    expect(followed.states.at(-1)?.block).toEqual({ number: 5, hash: '0x', timestamp });
    followed.stop.abort();
  }
});
