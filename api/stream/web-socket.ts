import type { HttpBindings } from '@hono/node-server';
import type { Handler, Hono } from 'hono';
import type { StreamConfig } from '../../config/stream-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { acceptWebSocket } from '../../runtime/web-sockets.ts';
import type { VerifyKey } from '../auth/authenticate.ts';
import { ApiError, badRequest } from '../errors.ts';
import { clientAddress } from '../http/client-address.ts';
import type { LimitOf } from '../limits/rate-limit.ts';
import { chainIdParam, type ServedChains, servedChain } from '../request.ts';
import type { PoolDirectory } from '../snapshots/pool-directory.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { Streams } from './types.ts';
import { keepAlive } from './ws-alive.ts';
import { WsSession } from './ws-session.ts';

export interface WebSocketDeps {
  readonly chains: ServedChains;
  readonly directory: PoolDirectory;
  readonly streams: Streams;
  readonly limits: ConnectionLimits;
  readonly config: StreamConfig;
  readonly verifyKey: VerifyKey;
  readonly trustedProxies: number;
  readonly logger: Logger;
  /** Told of a client that was cut because it answered no pings. */
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
  const { chains, directory, streams, limits, config, verifyKey, logger, pingMs, countSilent } = deps;
  return (c) => {
    const chainId = chainIdParam(c);
    // A key in a URL ends up in logs and histories: nothing of a query is taken, so that none is sent there.
    if (Object.keys(c.req.query()).length > 0) throw badRequest(NO_QUERY);
    const chain = servedChain(chains, chainId);
    if (c.req.header('Upgrade')?.toLowerCase() !== 'websocket') throw upgradeRequired();
    const key = c.get('key');
    const address = clientAddress(c, deps.trustedProxies);
    let session: WsSession | undefined;
    const connection = limits.open(key ?? { address }, () => session?.end('key_revoked'), 'websocket');
    const { socket } = (c.env as HttpBindings).incoming;
    // However a connection ends, and when it was never opened: its socket closes.
    socket.once('close', connection.free);
    if (socket.destroyed) connection.free();
    const stream = streams.of(chain.chainId);
    const sessionDeps = { chainId: chain.chainId, stream, directory, config, connection, address, verifyKey, logger };
    return acceptWebSocket(
      c,
      {
        onOpen: (_event, { raw }) => {
          if (!raw) return;
          session = new WsSession(raw, { ...sessionDeps, hasKey: key !== null });
          keepAlive(raw, () => countSilent(chain.chainId), pingMs);
        },
        onMessage: ({ data }) => session?.receive(data),
        onClose: () => session?.closed(),
      },
      (error) => logger.error({ err: error }, 'an event of a WebSocket failed'),
    );
  };
}

const NO_QUERY = 'a WebSocket takes no query: a key goes in the Authorization header or in a first auth operation';

const upgradeRequired = (): ApiError =>
  new ApiError(426, { error: 'Upgrade to a WebSocket required' }, { headers: { Upgrade: 'websocket' } });
