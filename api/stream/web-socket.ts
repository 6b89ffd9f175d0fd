import type { HttpBindings } from '@hono/node-server';
import type { Handler, Hono } from 'hono';
import type { Logger } from '../../runtime/logger.ts';
import { acceptWebSocket } from '../../runtime/web-sockets.ts';
import type { VerifyKey } from '../auth/authenticate.ts';
import { ApiError, badRequest } from '../errors.ts';
import { clientAddress } from '../http/client-address.ts';
import type { LimitOf } from '../limits/rate-limit.ts';
import { chainIdParam, servedChain } from '../request.ts';
import type { StreamDeps } from './stream.ts';
import { webSocketTransport } from './transports.ts';
import { keepAlive } from './ws-alive.ts';
import { WsSession } from './ws-session.ts';

export interface WebSocketDeps extends StreamDeps {
  readonly verifyKey: VerifyKey;
  readonly logger: Logger;
  /** Counts a client that was terminated because it answered no pings. */
  readonly countSilent: (chainId: number) => void;
  /** Default: 15 seconds. */
  readonly pingMs?: number;
}

const PATH = '/public/v1/evm/:chain_id/ws';

/** Where the HTTP server lets requests upgrade. */
export const WEB_SOCKET_PATHS = /^\/public\/v1\/evm\/[^/]+\/ws$/;

/** The WebSocket of each chain's stream. Opening one counts in the limit of quotes. Any origin may: the data are public. */
export function mountWebSocket(app: Hono, limitOf: LimitOf, deps: WebSocketDeps): void {
  app.get(PATH, limitOf('quote'), openWebSocket(deps));
}

function openWebSocket(deps: WebSocketDeps): Handler {
  const { chains, streams, limits, trustedProxies, verifyKey, logger, pingMs, countSilent } = deps;
  return async (c) => {
    const chainId = chainIdParam(c);
    // A key in a URL ends up in logs and histories: nothing of a query is taken, so that none is sent there.
    if (Object.keys(c.req.query()).length > 0) throw badRequest(NO_QUERY);
    const chain = servedChain(chains, chainId);
    if (c.req.header('Upgrade')?.toLowerCase() !== 'websocket') throw upgradeRequired();
    const stream = streams.of(chain.chainId);
    await stream.ready();
    const key = c.get('key');
    const address = clientAddress(c, trustedProxies);
    let session: WsSession | undefined;
    const connection = limits.open(key ?? { address }, 'websocket', () => session?.end('key_revoked'));
    const { socket: tcp } = (c.env as HttpBindings).incoming;
    // However a connection ends, and when it was never opened: its socket closes.
    tcp.once('close', connection.free);
    if (tcp.destroyed) connection.free();
    return acceptWebSocket(
      c,
      {
        onOpen: (_event, { raw }) => {
          if (!raw) return;
          keepAlive(raw, () => countSilent(chain.chainId), pingMs);
          const subscriber = stream.open(webSocketTransport(raw, tcp), key !== null);
          session = new WsSession(raw, { stream, subscriber, connection, address, verifyKey, logger });
        },
      },
      (error) => logger.error({ err: error }, 'failed to open a WebSocket'),
    );
  };
}

const NO_QUERY = 'a WebSocket takes no query: a key goes in the Authorization header or in a first auth operation';

const upgradeRequired = (): ApiError =>
  new ApiError(426, { error: 'Upgrade to a WebSocket required' }, { headers: { Upgrade: 'websocket' } });
