import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type HttpBindings, upgradeWebSocket } from '@hono/node-server';
import type { Context } from 'hono';
import type { WSEvents } from 'hono/ws';
import { type WebSocket, WebSocketServer } from 'ws';

/** Longest message of a client. A longer one closes its socket with 1009. */
export const MAX_MESSAGE_BYTES = 64 * 1024;
/** Code of a close that tells a client that the server stops. */
export const GOING_AWAY = 1001;

type Answer = (request: Request, env: object) => Response | Promise<Response>;
type UpgradeListener = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

/**
 * Sockets are not compressed: deflating a message for each of a thousand clients costs more than sending it. Pings are left to
 * whoever accepts a socket, who knows whether its client reads the answers.
 */
export const createWebSocketServer = (): WebSocketServer =>
  new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false, autoPong: false });

const accepted = new WeakSet<IncomingMessage>();

/**
 * Answers a request for an upgrade by opening its WebSocket. Any other answer of a handler refuses the upgrade.
 *
 * @param onError told of what an event's handler throws
 */
export function acceptWebSocket(
  c: Context<{ Bindings: HttpBindings }>,
  events: WSEvents<WebSocket>,
  onError: (error: unknown) => void,
): Promise<Response> {
  accepted.add(c.env.incoming);
  return upgradeWebSocket(c, events as Parameters<typeof upgradeWebSocket>[1], { onError });
}

/** Answers of an app whose refusals of upgrades are sent whole, as any other answer: the adapter would leave out the body. */
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
 * Leaves the upgrades to WebSockets at `paths` to the adapter's listener. Any other `Upgrade` is ignored, as HTTP allows:
 * the request is read again without it.
 */
export function upgradeOnly(server: Server, paths: RegExp): void {
  const [upgrade] = server.listeners('upgrade') as UpgradeListener[];
  if (!upgrade) throw new Error('the adapter listens to no upgrades');
  // The adapter answers what it cannot read only while it is the one listener.
  server.removeAllListeners('upgrade');
  server.on('upgrade', (request: IncomingMessage, socket: Socket & { _httpMessage?: ServerResponse | null }, head) => {
    // An answer to an earlier request of the connection is being written.
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
