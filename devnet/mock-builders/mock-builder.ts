import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Behaviour, type MockState } from './behaviour.ts';
import { answerBundle } from './bundle-endpoint.ts';
import { attachStream } from './stream-endpoint.ts';

export type MockBuilder = {
  readonly port: number;
  /** For `transport: "quote-stream"`. */
  readonly streamUrl: string;
  /** For `transport: "bundle"`. */
  readonly bundleUrl: string;
  readonly state: MockState;
  /** Cuts every connection, as a crash would. */
  breakConnections(): void;
  stop(): Promise<void>;
};

/**
 * A builder on the loopback interface that speaks both transports. Over HTTP, `PUT /behaviour` chooses what it does,
 * `GET /received` lists what it got and `DELETE /received` forgets that.
 */
export async function startMockBuilder(port = 0): Promise<MockBuilder> {
  const state: MockState = {
    behaviour: { kind: 'ack' },
    received: [],
    authorizations: [],
    connections: 0,
    refusals: 0,
    record: true,
  };
  const server = createServer((request, response) => {
    handle(state, request, response).catch((error: unknown) => reply(response, 500, { error: String(error) }));
  });
  const sockets = trackSockets(server);
  const closeStream = attachStream(server, state);
  const breakConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    streamUrl: `ws://127.0.0.1:${bound}/ws/sendquoteupdate`,
    bundleUrl: `http://127.0.0.1:${bound}/`,
    state,
    breakConnections,
    async stop() {
      closeStream();
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
