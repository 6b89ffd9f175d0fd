import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { BuilderConfig } from '../../config/pamm-schema.ts';
import { Behaviour, type MockState } from './behaviour.ts';
import { answerBundle } from './bundle-endpoint.ts';
import { MockRelayer } from './mock-relayer.ts';
import { answerRelayer, RELAYER, RELAYER_PATH } from './relayer-endpoint.ts';
import { attachSockets } from './sockets.ts';
import { QUOTE_STREAM } from './stream-endpoint.ts';

export type MockBuilder = {
  readonly port: number;
  /** For `transport: "quote-stream"`. */
  readonly streamUrl: string;
  /** For `transport: "bundle"`. */
  readonly bundleUrl: string;
  /** For `transport: "relayer"`; by HTTP the same with `http:`. */
  readonly relayerUrl: string;
  readonly state: MockState;
  /** Cuts every connection, as a crash would. */
  breakConnections(): void;
  stop(): Promise<void>;
};

/** URL of a mock builder for a transport. */
export const urlFor = (
  { streamUrl, bundleUrl, relayerUrl }: MockBuilder,
  transport: BuilderConfig['transport'],
): string => ({ 'quote-stream': streamUrl, bundle: bundleUrl, relayer: relayerUrl })[transport];

/**
 * A builder on the loopback interface that speaks all transports. Over HTTP, `PUT /behaviour` chooses what it does,
 * `GET /received` lists what it got and `DELETE /received` forgets that.
 */
export async function startMockBuilder(port = 0): Promise<MockBuilder> {
  const state: MockState = {
    behaviour: { kind: 'ack' },
    received: [],
    relayer: new MockRelayer(),
    authorizations: [],
    connections: 0,
    refusals: 0,
    record: true,
  };
  const server = createServer((request, response) => {
    handle(state, request, response).catch((error: unknown) => reply(response, 500, { error: String(error) }));
  });
  const sockets = trackSockets(server);
  const closeSockets = attachSockets(server, state, [QUOTE_STREAM, RELAYER]);
  const breakConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    streamUrl: `ws://127.0.0.1:${bound}${QUOTE_STREAM.path}`,
    bundleUrl: `http://127.0.0.1:${bound}/`,
    relayerUrl: `ws://127.0.0.1:${bound}${RELAYER_PATH}`,
    state,
    breakConnections,
    async stop() {
      closeSockets();
      breakConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function handle(state: MockState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const route = `${request.method} ${request.url}`;
  switch (route) {
    case 'PUT /behaviour': {
      const parsed = Behaviour.safeParse(JSON.parse(await text(request)));
      if (!parsed.success) return reply(response, 400, { error: parsed.error.message });
      state.behaviour = parsed.data;
      return reply(response, 200, state.behaviour);
    }
    case 'GET /received':
      return reply(response, 200, state.received);
    case 'DELETE /received':
      state.received.length = 0;
      return reply(response, 200, []);
    case 'POST /':
      return answerBundle(state, request, response);
    case `POST ${RELAYER_PATH}`:
      await answerRelayer(state, request, response);
      return;
    default:
      return reply(response, 404, { error: `no ${route}` });
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  return sockets;
}
