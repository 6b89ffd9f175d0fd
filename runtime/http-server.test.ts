import { once } from 'node:events';
import { connect } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import { afterEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../config/config-error.ts';
import { openWorld } from '../test/harness/open-world.ts';
import { type RunningServer, startServer, type WebApp } from './http-server.ts';

const QUICK = {
  headersTimeout: 300,
  requestTimeout: 600,
  connectionsCheckingInterval: 50,
  keepAliveTimeout: 5_000,
  idleTimeout: 30_000,
};

const servers: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop(0)));
});

/** Says how much it read; whoever broke off in between does not hear the rest. */
const echo: WebApp = {
  fetch: (request) =>
    request.text().then(
      (text) => new Response(`read ${text.length}`),
      () => new Response('broken off'),
    ),
};

async function start(app: WebApp = echo): Promise<number> {
  const server = await startServer(app, '127.0.0.1', 0);
  servers.push(server);
  return server.port;
}

/** Sends bytes, one per character, and returns all that comes back until the server closes the connection. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => undefined); // A reset is an end too.
  socket.write(Buffer.from(text, 'latin1'));
  await once(socket, 'close');
  return received;
}

const answerOf = (text: string) => {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), isJson: head.includes('Content-Type: application/json'), body };
};

describe('what is no request gets the JSON body of any error', () => {
  const host = 'Host: x\r\nConnection: close\r\n';
  test.each([
    ['a broken request line', 'BROKEN\r\n\r\n', 400],
    ['a null byte in a header', `GET / HTTP/1.1\r\n${host}A: \u0000\r\n\r\n`, 400],
    ['an invalid host', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
    ['no host at all', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['a target that is no URL', `GET http://[::1/ HTTP/1.1\r\n${host}\r\n`, 400],
    ['two lengths', `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
    ['a broken chunk', `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
    ['headers too large', `GET / HTTP/1.1\r\n${host}A: ${'a'.repeat(66_000)}\r\n\r\n`, 431],
    [
      'a chunk with too much said of it',
      `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n1;${'e'.repeat(17_000)}\r\n`,
      413,
    ],
  ])('%s', async (_name, text, status) => {
    const answer = answerOf(await exchange(await start(), text));
    expect([answer.status, answer.isJson]).toEqual([status, true]);
    expect(JSON.parse(answer.body)).toEqual({ error: expect.stringMatching(/^[A-Z]/) });
  });

  test('an expectation that cannot be met', async () => {
    const text = `POST / HTTP/1.1\r\n${host}Expect: a miracle\r\nContent-Length: 1\r\n\r\n`;
    expect(await exchange(await start(), text)).toMatch(/^HTTP\/1\.1 417 [\s\S]*\{"error":"Expectation Failed"\}/);
  });

  test('HEAD gets no body, in which it would see another answer', async () => {
    const answer = answerOf(await exchange(await start(), `HEAD /\u0001 HTTP/1.1\r\n${host}\r\n`));
    expect([answer.status, answer.body]).toEqual([400, '']);
  });

  test('an answer that has begun is cut rather than written into', async () => {
    const begun = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('begun')),
    });
    const port = await start({ fetch: () => new Response(begun) });
    const socket = connect({ port, host: '127.0.0.1' });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (received.includes('begun')) socket.write('BROKEN\r\n\r\n');
    });
    socket.on('error', () => undefined); // A reset is an end too.
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'close');
    expect(received.match(/HTTP\/1\.1/g)).toEqual(['HTTP/1.1']);
  });
});

describe('who takes too long is cut', () => {
  const slow = { status: 408, isJson: true, body: '{"error":"Request Timeout"}' };
  const quick = openWorld(async (ends) =>
    ends.adopt(await startServer(echo, '127.0.0.1', 0, { times: QUICK }), (server) => server.stop(0)),
  );

  test.concurrent('over the headers', async () => {
    expect(answerOf(await exchange(quick.port, 'GET / HTTP/1.1\r\nHost: x\r\nA: '))).toEqual(slow);
  });

  test.concurrent('over the body', async () => {
    const text = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc';
    expect(answerOf(await exchange(quick.port, text))).toEqual(slow);
  });

  test.concurrent('silently before the first byte: a request sent meanwhile would take it for its response', async () => {
    expect(await exchange(quick.port, '')).toBe('');
  });

  test('over reading the answer', async () => {
    const large = 'x'.repeat(50_000_000);
    const cut = Promise.withResolvers<void>();
    const app: WebApp = {
      fetch: (_request, env) => {
        (env as HttpBindings).incoming.socket.once('close', cut.resolve);
        return new Response(large);
      },
    };
    await using ends = new AsyncDisposableStack();
    const times = { ...QUICK, idleTimeout: 500 };
    const { port } = ends.adopt(await startServer(app, '127.0.0.1', 0, { times }), (server) => server.stop(0));
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined); // A reset is an end too.
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'readable');
    await cut.promise;
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    await once(socket, 'close');
    expect(received).toBeLessThan(large.length);
  });
});

test('"100 Continue" never stands between the head and the body of an answer', async () => {
  // Bytes rather than a text: Node writes their head apart.
  const app: WebApp = { fetch: async () => new Response(new TextEncoder().encode('answer')) };
  const request = 'GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n';
  const received = await exchange(await start(app), request.repeat(3));
  const parts = received.split('\r\n\r\n').map((part) => part.replace(/\r\n[\s\S]*/, ''));
  // The second was sent without waiting for leave: it is answered, and the connection ends.
  expect(parts).toEqual(['HTTP/1.1 100 Continue', 'HTTP/1.1 200 OK', 'answerHTTP/1.1 200 OK', 'answer']);
});

describe('a stop', () => {
  test('lets the request in flight finish, takes no other and does not wait for idle connections', async () => {
    const held = Promise.withResolvers<void>();
    const inFlight = Promise.withResolvers<void>();
    const app: WebApp = {
      fetch: async (request) => {
        if (!request.url.endsWith('/held')) return new Response('at once');
        inFlight.resolve();
        await held.promise;
        return new Response('finished');
      },
    };
    const server = await startServer(app, '127.0.0.1', 0);
    const base = `http://127.0.0.1:${server.port}`;
    expect(await (await fetch(base)).text()).toBe('at once');
    const answer = fetch(`${base}/held`);
    await inFlight.promise;
    const stopped = server.stop(60_000);
    await expect(fetch(base)).rejects.toThrow();
    held.resolve();
    expect(await (await answer).text()).toBe('finished');
    await stopped;
  });

  test('cuts what is left after its grace', async () => {
    const inFlight = Promise.withResolvers<void>();
    const never: WebApp = {
      fetch: () => {
        inFlight.resolve();
        return new Promise<Response>(() => undefined);
      },
    };
    const server = await startServer(never, '127.0.0.1', 0);
    const answer = expect(fetch(`http://127.0.0.1:${server.port}`)).rejects.toThrow();
    await inFlight.promise;
    await server.stop(100);
    await answer;
  });
});

test('a port that is taken is a wrong setting', async () => {
  const port = await start();
  await expect(startServer(echo, '127.0.0.1', port)).rejects.toThrow(ConfigError);
});
