import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, getRequestListener, type WebSocketServerLike } from '@hono/node-server';
import type { WebSocketServer } from 'ws';
import { answerFailure, rejectExpectation, rejectMalformedHttp } from './http-refusals.ts';
import { listenError } from './listen-error.ts';
import { createWebSocketServer, GOING_AWAY, upgradeOnly, withRefusals } from './web-sockets.ts';

/** The app to serve: Hono, or anything else that turns a request into a response. */
export type WebApp = {
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>;
  readonly front?: Front;
};

/** Gets requests before the app: it sends a response, or calls `next`, which hands the request to the app. */
export type Front = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

export type RunningServer = {
  /** The port that the server listens on; the assigned port when 0 was requested. */
  readonly port: number;
  /** Accepts no new request, lets requests in flight finish, closes WebSockets, and ends the rest after `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** How long clients may take, in milliseconds. */
const TIMES = {
  /** For the headers of a request, and for the whole request. A slow sender is terminated, to free its connection. */
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  /** How often these two timeouts are checked. */
  connectionsCheckingInterval: 2_000,
  /** Longest pause between two requests of a connection. */
  keepAliveTimeout: 65_000,
  /** Longest time without a byte in or out during a request. No response takes that long: the client does not read. */
  idleTimeout: 30_000,
};

export interface ServerSettings {
  readonly times?: typeof TIMES | undefined;
  /** Paths at which a handler may open a WebSocket; an `Upgrade` elsewhere is ignored. */
  readonly webSockets?: RegExp | null;
  /** The setting that names the port, for errors. */
  readonly setting?: string;
  /** Whether several processes may listen on the same port. The kernel then distributes connections among them. */
  readonly reusePort?: boolean;
}

/** Limit of request line and headers: 500 pools take 23 kB, and a lookup of too many pools must get its own error. */
const MAX_HEADER_BYTES = 64 * 1024;
const SWEEP_MS = 50;

/**
 * Serves an app over HTTP. The server itself responds to what never becomes a request: malformed HTTP, and headers that
 * are too large or too slow. These responses have the same JSON bodies as all other errors.
 *
 * @throws ConfigError one line that names the setting at fault, when it cannot listen
 */
export async function startServer(
  app: WebApp,
  host: string,
  port: number,
  { times = TIMES, webSockets = null, setting = 'PORT', reusePort = false }: ServerSettings = {},
): Promise<RunningServer> {
  const { idleTimeout, ...limits } = times;
  const sockets = createWebSocketServer();
  // A missing host is rejected later, by a response with a body.
  const options: ServerOptions = { ...limits, maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false };
  const server = webSockets
    ? createUpgradingServer(app, options, sockets, webSockets)
    : createPlainServer(app, options);
  server.setTimeout(idleTimeout);
  server.on('clientError', rejectMalformedHttp);
  server.on('checkExpectation', rejectExpectation);
  server.on('checkContinue', (request, response) => {
    // A response that waits for earlier ones has no socket yet. Node would put the line between its head and its body.
    // Without the line, Node closes the connection after the response.
    if (response.socket) response.writeContinue();
    server.emit('request', request, response);
  });
  server.listen({ port, host, reusePort });
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    throw listenError(setting, host, port, cause);
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
    // The adapter's own request listener has no error handler.
    createServer: (() => createPlainServer(app, options)) as typeof createServer,
    websocket: { server: sockets as WebSocketServer & WebSocketServerLike },
  }) as Server;
  upgradeOnly(server, paths);
  return server;
}

async function stopServer(server: Server, sockets: WebSocketServer, graceMs: number): Promise<void> {
  const deadline = setTimeout(() => {
    server.closeAllConnections();
    for (const client of sockets.clients) client.terminate();
  }, graceMs);
  for (const client of sockets.clients) client.close(GOING_AWAY);
  // A connection that was busy when the stop began would stay open after its response.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearInterval(sweep);
  clearTimeout(deadline);
}
