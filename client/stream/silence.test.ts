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
        this.#give({ event: 'heartbeat', seq, prevSeq, blockNumber: block, blockHash: '0x', blockTimestamp: 0 });
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

/** A service that sends events, and comments between them if it is not an older one. */
function startEvents() {
  const service = { isDead: false, opened: 0, comment: () => undefined as unknown };
  const fetch: typeof globalThis.fetch = async (_, init) => {
    service.opened += 1;
    const data = '{"seq":1,"prevSeq":null,"blockNumber":5,"blockHash":"0x","blockTimestamp":0}';
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
        const send = (text: string) => service.isDead || controller.enqueue(new TextEncoder().encode(text));
        send(`event: heartbeat\nid: a\ndata: ${data}\n\n`);
        service.comment = () => send(':\n\n');
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

async function follow(transport: Pick<StreamOptions, 'WebSocket' | 'fetch'>) {
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

test('events with comments between them are dead after 6 s of silence, those of an older service after 20 s', async () => {
  for (const [isOld, silenceMs] of [
    [false, 6_000],
    [true, 20_000],
  ] as const) {
    const { service, states, stop } = await followEvents();
    for (let second = 0; second < 30 && !isOld; second += 2) {
      await vi.advanceTimersByTimeAsync(2_000);
      service.comment();
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
