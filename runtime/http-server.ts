import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, getRequestListener, type WebSocketServerLike } from '@hono/node-server';
import type { WebSocketServer } from 'ws';
import { ConfigError } from '../config/config-error.ts';
import { answerFailure, rejectExpectation, rejectMalformedHttp } from './http-refusals.ts';
import { createWebSocketServer, GOING_AWAY, upgradeOnly, withRefusals } from './web-sockets.ts';

/** What is served: a Hono app, or anything else that turns a request into a response. */
export type WebApp = {
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>;
  readonly front?: Front;
};

/** Takes requests before the app does: it sends a response, or calls `next`, which hands the request to the app. */
export type Front = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

export type RunningServer = {
  /** The port listened on, also when 0 was asked for. */
  readonly port: number;
  /** Takes no new request, lets those in flight finish, closes WebSockets, and cuts what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** How long clients may take, in milliseconds. */
const TIMES = {
  /** For the headers of a request, and for all of it: who sends drop by drop is cut, so that it cannot hold connections. */
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  /** How often these two are looked at. */
  connectionsCheckingInterval: 2_000,
  /** Between two requests of a connection. */
  keepAliveTimeout: 65_000,
  /** Without a byte in or out while a request is served; longer than any response takes. Cuts who does not read. */
  idleTimeout: 30_000,
};

export interface ServerSettings {
  readonly times?: typeof TIMES | undefined;
  /** Paths at which a handler may open a WebSocket; an `Upgrade` elsewhere is ignored. */
  readonly webSockets?: RegExp | null;
  /** That the port came from. */
  readonly setting?: string;
  /** Whether other processes may listen on the same port: the kernel hands connections to all of them. */
  readonly reusePort?: boolean;
}

/** Of the request line and headers: a lookup of 500 pools takes 23 kB, and one of too many must get its error. */
const MAX_HEADER_BYTES = 64 * 1024;
const SWEEP_MS = 50;

/**
 * Serves an app over HTTP. What never becomes a request (broken HTTP, headers too large or too slow) is answered by the
 * server itself, with the same JSON bodies as any other error.
 *
 * @throws ConfigError when the port cannot be listened on
 */
export async function startServer(
  app: WebApp,
  host: string,
  port: number,
  { times = TIMES, webSockets = null, setting = 'PORT', reusePort = false }: ServerSettings = {},
): Promise<RunningServer> {
  const { idleTimeout, ...limits } = times;
  const sockets = createWebSocketServer();
  // A missing host is refused further in, with a body.
  const options: ServerOptions = { ...limits, maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false };
  const server = webSockets
    ? createUpgradingServer(app, options, sockets, webSockets)
    : createPlainServer(app, options);
  server.setTimeout(idleTimeout);
  server.on('clientError', rejectMalformedHttp);
  server.on('checkExpectation', rejectExpectation);
  server.on('checkContinue', (request, response) => {
    // A response that waits for those before it has no socket yet: Node would put the line between its head and body.
    // Without the line, Node ends the connection after the answer.
    if (response.socket) response.writeContinue();
    server.emit('request', request, response);
  });
  server.listen({ port, host, reusePort });
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    throw new ConfigError(`${setting}: cannot listen on ${host}:${port} (${cause.code})`, { cause });
  });
  return { port: (server.address() as AddressInfo).port, stop: (graceMs) => stopServer(server, sockets, graceMs) };
}

function createPlainServer({ fetch, front }: WebApp, options: ServerOptions): Server {
  const listener = getRequestListener(fetch, { errorHandler: answerFailure });
  return createServer(
    options,
    front ? (request, response) => front(request, response, () => void listener(request, response)) : listener,
  );
}

function createUpgradingServer(app: WebApp, options: ServerOptions, sockets: WebSocketServer, paths: RegExp): Server {
  const server = createAdaptorServer({
    fetch: withRefusals(app.fetch),
    // The adapter's own listener for requests knows no error handler.
    createServer: (() => createPlainServer(app, options)) as typeof createServer,
    websocket: { server: sockets as WebSocketServer & WebSocketServerLike },
  }) as Server;
  upgradeOnly(server, paths);
  return server;
}

async function stopServer(server: Server, sockets: WebSocketServer, graceMs: number): Promise<void> {
  const cut = setTimeout(() => {
    server.closeAllConnections();
    for (const client of sockets.clients) client.terminate();
  }, graceMs);
  for (const client of sockets.clients) client.close(GOING_AWAY);
  // A connection that was busy at the call stays open after its answer unless it is closed here.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearInterval(sweep);
  clearTimeout(cut);
}
