import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type RunningServer, startServer } from './http-server.ts';
import { acceptWebSocket, addHandshakeHeader } from './web-sockets.ts';

const servers: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop(0)));
});

const REFUSAL = { error: 'Too many requests' };

/** Sends back what it gets at `/ws`, refuses at `/full/ws`, and answers anything else. */
function echo(): Hono {
  const app = new Hono();
  const accept = (c: Context) =>
    acceptWebSocket(c, { onMessage: ({ data }, socket) => socket.send(String(data)) }, (error) => {
      throw error;
    });
  app.get('/ws', accept);
  app.get('/named/ws', (c: Context<{ Bindings: HttpBindings }>) => {
    addHandshakeHeader(c.env.incoming, 'X-Name', 'one');
    return accept(c);
  });
  app.get('/full/ws', (c) => c.json(REFUSAL, 429, { 'Retry-After': '7' }));
  app.all('*', async (c) => c.text(`${c.req.method} read ${(await c.req.text()).length}`));
  return app;
}

async function start(): Promise<RunningServer> {
  const server = await startServer(echo(), '127.0.0.1', 0, { webSockets: /\/ws$/ });
  servers.push(server);
  return server;
}

async function open(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  await once(socket, 'open');
  return socket;
}

/** Sends a text and returns all that comes back until the server closes the connection. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.write(text);
  await once(socket, 'close');
  return received;
}

const HANDSHAKE = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

test('a WebSocket carries messages, uncompressed, up to 64 KiB', async () => {
  const socket = await open((await start()).port);
  expect(socket.extensions).toBe('');
  const text = 'x'.repeat(64 * 1024);
  socket.send(text);
  expect(String((await once(socket, 'message'))[0])).toBe(text);
  socket.send(`${text}x`);
  expect((await once(socket, 'close'))[0]).toBe(1009);
});

test('the handshake has the headers that were added', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${(await start()).port}/named/ws`);
  const [{ headers }] = (await once(socket, 'upgrade')) as [IncomingMessage];
  expect(headers['x-name']).toBe('one');
});

describe('a refused upgrade', () => {
  test('gets the whole answer: status, headers and body', async () => {
    const received = await exchange((await start()).port, `GET /full/ws HTTP/1.1\r\n${HANDSHAKE}${KEY}\r\n`);
    const [head = '', body = ''] = received.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
    expect(head).toMatch(/\r\nretry-after: 7/);
    expect(head).toMatch(/\r\nconnection: close/);
    expect(JSON.parse(body)).toEqual(REFUSAL);
  });

  test('without the key of the handshake is 400', async () => {
    expect(await exchange((await start()).port, `GET /ws HTTP/1.1\r\n${HANDSHAKE}\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('with an invalid host has the body of any error', async () => {
    const text = `GET /ws HTTP/1.1\r\n${HANDSHAKE.replace('Host: x', 'Host: a b')}${KEY}\r\n`.replace(
      'Upgrade\r',
      'Upgrade, close\r',
    );
    expect(await exchange((await start()).port, text)).toMatch(/^HTTP\/1\.1 400 [\s\S]*\{"error":"Bad Request"\}$/);
  });
});

describe('any other upgrade is ignored', () => {
  test.each([
    ['to HTTP/2', 'POST /any', 'h2c'],
    ['to a WebSocket where there is none', 'GET /any', 'websocket'],
    ['to a WebSocket by another method', 'POST /ws', 'websocket'],
  ])('%s', async (_name, target, protocol) => {
    const head = `Host: x\r\nUpgrade: ${protocol}\r\nContent-Length: 5\r\n`;
    const first = `${target} HTTP/1.1\r\nConnection: Upgrade\r\n${head}\r\nhello`;
    // The connection serves further requests.
    const last = `${target} HTTP/1.1\r\nConnection: close\r\n${head}\r\nworld`;
    const socket = connect({ port: (await start()).port, host: '127.0.0.1' });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (received.match(/ read \d/g)?.length === 1) socket.write(last);
    });
    socket.write(first);
    await once(socket, 'close');
    expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(received.match(/POST read 5|GET read 0/g)).toHaveLength(2);
  });

  test('but one behind a request that is still served ends the connection', async () => {
    const text = `GET /any HTTP/1.1\r\nHost: x\r\n\r\nGET /ws HTTP/1.1\r\n${HANDSHAKE}${KEY}\r\n`;
    expect(await exchange((await start()).port, text)).not.toContain('101');
  });
});

describe('a stop', () => {
  test('closes WebSockets with 1001', async () => {
    const server = await start();
    const socket = await open(server.port);
    const closed = once(socket, 'close');
    await server.stop(60_000);
    expect((await closed)[0]).toBe(1001);
  });

  test('cuts the ones that do not close in time', async () => {
    const server = await start();
    const socket = connect({ port: server.port, host: '127.0.0.1' });
    socket.on('error', () => undefined); // A reset is an end too.
    socket.write(`GET /ws HTTP/1.1\r\n${HANDSHAKE}${KEY}\r\n`);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 101 /);
    const closed = once(socket, 'close');
    await server.stop(200);
    await closed;
  });
});
