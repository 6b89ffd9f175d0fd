import type { Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Handler, Hono } from 'hono';
import type { WebSocket } from 'ws';
import { joinObjects } from '../../runtime/joined-json.ts';
import type { Logger } from '../../runtime/logger.ts';
import { acceptWebSocket, GOING_AWAY } from '../../runtime/web-sockets.ts';
import type { VerifyKey } from '../auth/authenticate.ts';
import { ApiError, badRequest, invalidApiKey } from '../errors.ts';
import { clientAddress, triesAddress } from '../http/client-address.ts';
import type { LimitOf } from '../limits/rate-limit.ts';
import { basisParam, chainIdParam, servedChain } from '../request.ts';
import type { Connection } from './connections.ts';
import type { StreamDeps } from './stream.ts';
import type { StreamTransport } from './types.ts';
import { WsSession } from './ws-session.ts';

export interface WebSocketDeps extends StreamDeps {
  readonly verifyKey: VerifyKey;
  readonly logger: Logger;
  /** Default: 15 seconds. */
  readonly pingMs?: number;
}

/** How often a client is pinged. */
const PING_MS = 15_000;
/** A client counts as one that does not read when it leaves this much of responses unread. */
const MAX_UNREAD_BYTES = 1024 * 1024;

const PATH = '/public/v1/evm/:chain_id/ws';

/** Where the HTTP server lets requests upgrade. */
export const WEB_SOCKET_PATHS = /^\/(?:public\/v1\/evm\/[^/]+\/(?:ws|price_levels)|rpc\/[^/]+)$/;

/** Mounts each chain's WebSocket, for any origin: the data are public. Opening one counts in the limit of quotes. */
export function mountWebSocket(app: Hono, limitOf: LimitOf, deps: WebSocketDeps): void {
  app.get(PATH, limitOf('quote'), openWebSocket(deps));
}

function openWebSocket(deps: WebSocketDeps): Handler {
  const { streams, trustedProxies, verifyKey, logger } = deps;
  return async (c) => {
    const chainId = chainIdParam(c);
    // A key in a URL ends up in logs and histories. Nothing else is accepted, so that no client sends its key there.
    if (Object.keys(c.req.query()).some((name) => name !== 'basis')) throw badRequest(NO_QUERY);
    const basis = basisParam(c);
    const stream = servedChain(streams.chains, chainId)[basis];
    assertUpgrade(c);
    await stream.ready();
    const key = c.get('key');
    const triesFrom = triesAddress(c, trustedProxies);
    return openSocket(c, deps, ({ socket, tcp, connection }) => {
      const subscriber = stream.open(webSocketTransport(socket, tcp), key !== null);
      const identify = async (presented: string) => {
        const identity = await verifyKey(presented, () => triesFrom);
        if (!identity) throw invalidApiKey();
        streams.connections.useKey(connection, identity.keyId);
        subscriber.hasKey = true;
      };
      const session = new WsSession(socket, stream, subscriber, identify, logger);
      return (reason) => session.end(reason);
    });
  };
}

export type SocketDeps = Pick<WebSocketDeps, 'streams' | 'trustedProxies' | 'logger' | 'pingMs'>;

/** A WebSocket that opened. */
export interface OpenSocket {
  readonly socket: WebSocket;
  /** What it writes to. */
  readonly tcp: Socket;
  readonly connection: Connection;
  /** Bytes of the largest message that was sent without being asked for, which may wait to be read. */
  largestMessage: number;
}

/**
 * Opens a WebSocket of a chain, which counts as a connection of streams and is pinged.
 *
 * @param open takes it; what it gives ends it from our side
 * @throws ApiError 429, 503
 */
export function openSocket(
  c: Context,
  { streams: { connections, chains }, trustedProxies, logger, pingMs }: SocketDeps,
  open: (opened: OpenSocket) => Connection['end'],
): Promise<Response> {
  const { live } = servedChain(chains, chainIdParam(c));
  let end: Connection['end'] | undefined;
  const connection: Connection = {
    transport: 'websocket',
    address: clientAddress(c, trustedProxies),
    keyId: c.get('key')?.keyId ?? null,
    end: (reason) => end?.(reason),
  };
  connections.add(connection);
  const { socket: tcp } = (c.env as HttpBindings).incoming;
  // The socket closes however the connection ends, and also if it never opened.
  tcp.once('close', () => connections.remove(connection));
  if (tcp.destroyed) connections.remove(connection);
  return acceptWebSocket(
    c,
    {
      onOpen: (_event, { raw: socket }) => {
        if (!socket) return;
        const opened: OpenSocket = { socket, tcp, connection, largestMessage: 0 };
        keepAlive(opened, () => live.countTimeout(), pingMs);
        end = open(opened);
      },
    },
    (error) => logger.error({ err: error }, 'failed to open a WebSocket'),
  );
}

/** Whether a request asks for a WebSocket. */
export const isUpgrade = (c: Context): boolean => c.req.header('Upgrade')?.toLowerCase() === 'websocket';

/** @throws ApiError 426 unless a request asks for a WebSocket */
export function assertUpgrade(c: Context): void {
  if (!isUpgrade(c))
    throw new ApiError(426, { error: 'Upgrade to a WebSocket required' }, { headers: { Upgrade: 'websocket' } });
}

const NO_QUERY =
  'a WebSocket takes no query but basis: a key goes in the Authorization header or in a first auth operation';

/**
 * Sends a stream's messages over a WebSocket: texts that have `event` and `id` in front of the data's own fields.
 *
 * @param tcp what the WebSocket writes to
 */
function webSocketTransport(socket: WebSocket, tcp: Socket): StreamTransport {
  return {
    send: (event, id, data) => socket.send(joinObjects(JSON.stringify(id === '' ? { event } : { event, id }), data)),
    get unsentBytes() {
      return socket.bufferedAmount;
    },
    onDrain: (listener) => tcp.on('drain', listener),
    end: () => socket.close(GOING_AWAY),
    terminate: () => socket.terminate(),
  };
}

/**
 * Terminates a socket whose client has not answered a ping for twice `pingMs`, or sends pings and operations without
 * reading the responses.
 */
function keepAlive(opened: OpenSocket, onTerminated: () => void, pingMs = PING_MS): void {
  const { socket } = opened;
  let unanswered = 0;
  const terminate = () => {
    // The socket still emits what came before its end.
    for (const event of ['ping', 'message']) socket.removeAllListeners(event);
    onTerminated();
    socket.terminate();
  };
  const timer = setInterval(() => {
    if (unanswered === 2) return terminate();
    unanswered += 1;
    socket.ping();
  }, pingMs);
  const checkRead = () => {
    if (socket.bufferedAmount > MAX_UNREAD_BYTES + opened.largestMessage) terminate();
  };
  socket.on('pong', () => {
    unanswered = 0;
  });
  socket.on('ping', (data) => socket.pong(data));
  for (const event of ['ping', 'message']) socket.on(event, checkRead);
  socket.once('close', () => clearInterval(timer));
}
