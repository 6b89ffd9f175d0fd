import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { ConfigError } from '../config/config-error.ts';

/** What is served: a Hono app, or anything else that turns a request into a response. */
export type WebApp = { readonly fetch: (request: Request) => Response | Promise<Response> };

export type RunningServer = {
  /** The port listened on, also when 0 was asked for. */
  readonly port: number;
  /** Takes no new request, lets those in flight finish, and cuts what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

const SERVER_OPTIONS = {
  // A client that sends its request drop by drop is cut, so that it cannot hold connections.
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
};

const SWEEP_MS = 50;

/**
 * Serves an app over HTTP.
 *
 * @throws ConfigError when the port cannot be listened on
 */
export async function startServer(app: WebApp, host: string, port: number): Promise<RunningServer> {
  const server = createServer(SERVER_OPTIONS, getRequestListener(app.fetch));
  server.listen(port, host);
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    throw new ConfigError(`PORT: cannot listen on ${host}:${port} (${cause.code})`, { cause });
  });
  return { port: (server.address() as AddressInfo).port, stop: (graceMs) => stopServer(server, graceMs) };
}

async function stopServer(server: Server, graceMs: number): Promise<void> {
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  // A connection that was busy at the call stays open after its answer: nobody else would close it.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearInterval(sweep);
  clearTimeout(cut);
}
