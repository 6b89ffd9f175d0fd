import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Logger } from '../../runtime/logger.ts';

/** A builder or relayer that a test plays: a WebSocket and JSON-RPC over HTTP on one port. */
export interface LiveServer {
  readonly wsUrl: string;
  readonly rpcUrl: string;
  /** Performance time at which each connection was opened. */
  readonly connections: number[];
  /** Messages of clients, and the bodies of their requests. */
  readonly messages: string[];
  readonly requests: { readonly at: number; readonly body: string }[];
  readonly openSockets: () => number;
  /** Sends a message to all sockets. */
  readonly push: (message: string | Uint8Array) => void;
  /** How requests are answered; at first with 503. */
  answer: (response: ServerResponse) => void;
  /** Ends all connections. */
  readonly cut: () => void;
}

/**
 * Starts a server, which stops with the test.
 *
 * @param isAllowed judges the headers of requests and connections; others get 401
 */
export async function startLiveServer(
  isAllowed: (headers: IncomingHttpHeaders) => boolean = () => true,
): Promise<LiveServer> {
  const http = createServer(async (request, response) => {
    if (!isAllowed(request.headers)) return response.writeHead(401).end('unauthorized');
    server.requests.push({ at: performance.now(), body: await text(request) });
    return server.answer(response);
  });
  const sockets = new WebSocketServer({
    server: http,
    verifyClient: ({ req }: { readonly req: IncomingMessage }) => isAllowed(req.headers),
  });
  sockets.on('connection', (socket: WebSocket) => {
    server.connections.push(performance.now());
    socket.on('message', (data) => server.messages.push(data.toString()));
  });
  const cut = () => {
    for (const socket of sockets.clients) socket.terminate();
    http.closeAllConnections();
  };
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const host = `127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server: LiveServer = {
    wsUrl: `ws://${host}/hidden-path`,
    rpcUrl: `http://${host}/hidden-path`,
    connections: [],
    messages: [],
    requests: [],
    openSockets: () => sockets.clients.size,
    push: (message) => {
      for (const socket of sockets.clients) socket.send(message);
    },
    answer: (response) => response.writeHead(503).end(),
    cut,
  };
  onTestFinished(async () => {
    cut();
    sockets.close();
    await new Promise((resolve) => http.close(resolve));
  });
  return server;
}

/** A logger, and the lines that it wrote. */
export function recordingLogger(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  return { logger: pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }), lines };
}
