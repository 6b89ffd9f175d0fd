import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type WebSocket, WebSocketServer } from 'ws';
import { answerRpc, WRONG_KEY } from '../rpc-messages.ts';
import { answerBuilder, builderFrame } from './builder-form.ts';
import type { PendingUpdates } from './pending-updates.ts';
import { answerRelayer } from './relayer-form.ts';
import { RelayerSubscriptions } from './relayer-subscriptions.ts';

const BUILDER_STREAM = '/ws/pamm_quote_stream';
const RELAYER = '/relayer';

export interface FormServerOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Time between two frames, and between two notifications of a subscription. Default: 100. */
  readonly frameMs?: number;
  /** The whole `Authorization` header that the builder form requires. Default: none is required. */
  readonly builderKey?: string;
  /** The `x-api-key` header that the relayer form requires. Default: none is required. */
  readonly relayerKey?: string;
}

/** Where a builder serves its pending updates, and ways to fail its clients. */
export interface FormServer {
  readonly port: number;
  /** WebSocket of frames in the builder form. */
  readonly builderStreamUrl: string;
  /** JSON-RPC with `titan_getPammStateOverrides`. */
  readonly builderRpcUrl: string;
  /** WebSocket JSON-RPC with `pamm_subscribe`. */
  readonly relayerStreamUrl: string;
  /** JSON-RPC with `pamm_getPammStateOverrides` and `pamm_status`. */
  readonly relayerRpcUrl: string;
  /** Open WebSockets of both forms. */
  connections(): number;
  /**
   * WebSockets fall silent: they are accepted and stay open, but get neither frames nor responses.
   * HTTP is not affected.
   */
  pause(): void;
  resume(): void;
  /** Sends every WebSocket its frame now, besides those that come in their time. */
  sendFrames(): void;
  /** Sends a text to every WebSocket of both forms, also while paused. */
  sendRaw(text: string): void;
  /** Terminates every WebSocket, as a crash would. */
  breakConnections(): void;
  stop(): Promise<void>;
}

type FrameSender = () => void;

/** Serves pending updates in both forms on a port of the loopback interface. */
export async function startFormServer(pending: PendingUpdates, options: FormServerOptions = {}): Promise<FormServer> {
  const { port = 0, frameMs = 100 } = options;
  const senders = new Map<WebSocket, FrameSender>();
  let paused = false;
  const server = createServer((request, response) => {
    answerHttp(pending, options, request, response).catch(() => response.destroy());
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const refusal = refusalOf(options, request);
    if (refusal !== undefined) return refuse(socket, refusal);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      senders.set(
        webSocket,
        senderOf(pending, webSocket, request, () => paused),
      );
      webSocket.on('close', () => senders.delete(webSocket));
      webSocket.on('error', () => webSocket.terminate());
    });
  });
  const timer = setInterval(() => {
    if (!paused) for (const sendFrame of senders.values()) sendFrame();
  }, frameMs);
  const breakConnections = () => {
    for (const webSocket of senders.keys()) webSocket.terminate();
  };
  return {
    ...(await listen(server, port)),
    connections: () => senders.size,
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
    sendFrames: () => {
      for (const sendFrame of senders.values()) sendFrame();
    },
    sendRaw(raw) {
      for (const webSocket of senders.keys()) webSocket.send(raw);
    },
    breakConnections,
    async stop() {
      clearInterval(timer);
      breakConnections();
      sockets.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** What sends a WebSocket its frames; also answers its requests from now on. */
function senderOf(
  pending: PendingUpdates,
  webSocket: WebSocket,
  { url }: IncomingMessage,
  isPaused: () => boolean,
): FrameSender {
  if (url === BUILDER_STREAM) return () => webSocket.send(builderFrame(pending));
  const subscriptions = new RelayerSubscriptions(webSocket, pending);
  webSocket.on('message', (message: Buffer) => {
    if (!isPaused()) subscriptions.receive(message.toString());
  });
  return () => subscriptions.notify();
}

async function listen(server: Server, port: number) {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    port: (server.address() as AddressInfo).port,
    builderStreamUrl: `ws://${host}${BUILDER_STREAM}`,
    builderRpcUrl: `http://${host}/`,
    relayerStreamUrl: `ws://${host}${RELAYER}`,
    relayerRpcUrl: `http://${host}${RELAYER}`,
  };
}

async function answerHttp(
  pending: PendingUpdates,
  options: FormServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isRelayer = request.url === RELAYER;
  if (request.method !== 'POST' || !(isRelayer || request.url === '/')) return void response.writeHead(404).end();
  const hasKey = isRelayer ? hasRelayerKey(options, request) : hasBuilderKey(options, request);
  const body = answerRpc(await text(request), (call) => {
    if (!hasKey) return WRONG_KEY;
    return isRelayer ? answerRelayer(pending, call) : answerBuilder(pending, call);
  });
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
}

function refusalOf(options: FormServerOptions, request: IncomingMessage): string | undefined {
  if (request.url === BUILDER_STREAM) return hasBuilderKey(options, request) ? undefined : '401 Unauthorized';
  if (request.url === RELAYER) return hasRelayerKey(options, request) ? undefined : '401 Unauthorized';
  return '404 Not Found';
}

function hasBuilderKey({ builderKey }: FormServerOptions, { headers }: IncomingMessage): boolean {
  return builderKey === undefined || headers.authorization === builderKey;
}

function hasRelayerKey({ relayerKey }: FormServerOptions, { headers }: IncomingMessage): boolean {
  return relayerKey === undefined || headers['x-api-key'] === relayerKey;
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
}
