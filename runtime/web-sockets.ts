import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type HttpBindings, upgradeWebSocket } from '@hono/node-server';
import type { Context } from 'hono';
import type { WSEvents } from 'hono/ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { NO_OWN_COMPRESSION, narrowOffers } from './message-deflate.ts';

/** Longest message of a client. A longer message closes the socket with 1009. */
export const MAX_MESSAGE_BYTES = 64 * 1024;
/** Close code that means that the server stops. */
export const GOING_AWAY = 1001;

type Answer = (request: Request, env: object) => Response | Promise<Response>;
type UpgradeListener = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

const handshakeHeaders = new WeakMap<IncomingMessage, string[]>();

/** Adds a header to the response that opens a WebSocket, if the request gets one. */
export function addHandshakeHeader(request: IncomingMessage, name: string, value: string): void {
  handshakeHeaders.set(request, [...(handshakeHeaders.get(request) ?? []), `${name}: ${value}`]);
}

/**
 * Makes a WebSocket server that compresses nothing: deflating a message for each of a thousand clients costs more than
 * sending it. Who sends one message to all may deflate it once, see `message-deflate.ts`. The code that accepts a
 * socket answers pings, since it knows whether the client reads the pongs.
 */
export const createWebSocketServer = (): WebSocketServer =>
  new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: NO_OWN_COMPRESSION,
    autoPong: false,
  }).on('headers', (lines, request) => lines.push(...(handshakeHeaders.get(request) ?? [])));

const accepted = new WeakSet<IncomingMessage>();

/**
 * Accepts an upgrade request by opening its WebSocket. Any other response of a handler rejects the upgrade.
 *
 * @param onError gets what the handler of an event throws
 * @param isDeflating whether messages are compressed for clients that offer that
 */
export function acceptWebSocket(
  c: Context<{ Bindings: HttpBindings }>,
  events: WSEvents<WebSocket>,
  onError: (error: unknown) => void,
  isDeflating = false,
): Promise<Response> {
  const { incoming } = c.env;
  accepted.add(incoming);
  if (isDeflating) narrowOffers(incoming);
  else delete incoming.headers['sec-websocket-extensions'];
  return upgradeWebSocket(c, events as Parameters<typeof upgradeWebSocket>[1], { onError });
}

/** Wraps an app so that responses that reject an upgrade are sent with a body, which the adapter would leave out. */
export function withRefusals(answer: Answer): Answer {
  return async (request, env) => {
    const response = await answer(request, env);
    const { incoming, outgoing } = env as Partial<HttpBindings>;
    if (incoming && !outgoing && !accepted.has(incoming)) await refuse(incoming.socket, response);
    return response;
  };
}

async function refuse(socket: Socket, { status, headers, body }: Response & { body: unknown }): Promise<void> {
  const text = Buffer.from(await new Response(body).arrayBuffer());
  const fields = new Headers(headers);
  fields.set('Connection', 'close');
  fields.set('Content-Length', String(text.length));
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...[...fields].map((field) => field.join(': '))];
  await new Promise<void>((resolve) => {
    socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), text]), resolve);
  });
  // The adapter leaves a destroyed socket alone.
  socket.destroy();
}

/**
 * Hands upgrades to WebSockets at `paths` to the adapter's listener. Any other `Upgrade` is ignored, as HTTP allows:
 * the server reads the request again without that header.
 */
export function upgradeOnly(server: Server, paths: RegExp): void {
  const [upgrade] = server.listeners('upgrade') as UpgradeListener[];
  if (!upgrade) throw new Error('the adapter listens to no upgrades');
  // The adapter responds to malformed upgrades only while it is the only listener.
  server.removeAllListeners('upgrade');
  server.on('upgrade', (request: IncomingMessage, socket: Socket & { _httpMessage?: ServerResponse | null }, head) => {
    // The response to an earlier request of this connection is still being written.
    if (socket._httpMessage) socket.destroy();
    else if (isWebSocket(request, paths)) upgrade.call(server, request, socket, head);
    else readAgain(server, request, socket, head);
  });
}

function isWebSocket({ method, url = '/', headers }: IncomingMessage, paths: RegExp): boolean {
  const at = `http://${headers.host}${url}`;
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket' || !URL.canParse(at)) return false;
  return paths.test(new URL(at).pathname);
}

function readAgain(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
