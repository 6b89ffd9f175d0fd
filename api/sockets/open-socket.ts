import type { Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { WebSocket } from 'ws';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { acceptWebSocket } from '../../runtime/web-sockets.ts';
import { ApiError } from '../errors.ts';
import { clientAddress } from '../http/client-address.ts';
import { chainIdParam } from '../request.ts';
import type { Connection } from './connections.ts';
import { keepAlive } from './keep-alive.ts';
import type { Sockets } from './sockets.ts';

/** Where the HTTP server lets requests upgrade. */
export const WEB_SOCKET_PATHS =
  /^\/(?:public\/v1\/evm\/[^/]+\/(?:ws(?:\/pamm_(?:quote_stream|price_levels))?|price_levels)|rpc\/[^/]+)$/;

const now = () => performance.now();

export interface SocketDeps {
  readonly sockets: Sockets;
  readonly trustedProxies: number;
  readonly logger: Logger;
  /** How often clients are pinged. Default: 15 seconds. */
  readonly pingMs?: number;
}

/** A WebSocket that opened. */
export interface OpenSocket {
  readonly socket: WebSocket;
  /** What it writes to. */
  readonly tcp: Socket;
  readonly connection: Connection;
  /** The clock of its limits. */
  readonly now: Clock;
  /** Bytes of the largest message that was sent, which may wait to be read. */
  largestMessage: number;
}

/**
 * Opens a WebSocket of a chain, which counts as a connection and is pinged.
 *
 * @param open takes it; what it gives ends it from our side
 * @param isDeflating whether it compresses messages for clients that offer that
 * @throws ApiError 429, 503
 */
export function openSocket(
  c: Context,
  { sockets, trustedProxies, logger, pingMs }: SocketDeps,
  open: (opened: OpenSocket) => Connection['end'],
  isDeflating = false,
): Promise<Response> {
  const { connections } = sockets;
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
  const chainId = Number(chainIdParam(c));
  return acceptWebSocket(
    c,
    {
      onOpen: (_event, { raw: socket }) => {
        if (!socket) return;
        const opened: OpenSocket = { socket, tcp, connection, now, largestMessage: 0 };
        keepAlive(opened, () => sockets.countTermination(chainId, 'timeout'), pingMs);
        end = open(opened);
      },
    },
    (error) => logger.error({ err: error }, 'failed to open a WebSocket'),
    isDeflating,
  );
}

/** Whether a request asks for a WebSocket. */
export const isUpgrade = (c: Context): boolean => c.req.header('Upgrade')?.toLowerCase() === 'websocket';

/** @throws ApiError 426 unless a request asks for a WebSocket */
export function assertUpgrade(c: Context): void {
  if (!isUpgrade(c))
    throw new ApiError(426, { error: 'Upgrade to a WebSocket required' }, { headers: { Upgrade: 'websocket' } });
}
