import type { Handler, Hono } from 'hono';
import { joinObjects } from '../../runtime/joined-json.ts';
import { GOING_AWAY } from '../../runtime/web-sockets.ts';
import type { VerifyKey } from '../auth/authenticate.ts';
import { badRequest, invalidApiKey } from '../errors.ts';
import { triesAddress } from '../http/client-address.ts';
import type { LimitOf } from '../limits/rate-limit.ts';
import { basisParam, chainIdParam, servedChain } from '../request.ts';
import { assertUpgrade, type OpenSocket, openSocket, type SocketDeps } from '../sockets/open-socket.ts';
import { runSession } from '../sockets/session.ts';
import type { StreamDeps } from './stream.ts';
import type { StreamTransport } from './types.ts';
import { WsSession } from './ws-session.ts';

export type WebSocketDeps = StreamDeps & SocketDeps & { readonly verifyKey: VerifyKey };

const PATH = '/public/v1/evm/:chain_id/ws';

/** Mounts each chain's WebSocket, for any origin: the data are public. Opening one counts in the limit of quotes. */
export function mountWebSocket(app: Hono, limitOf: LimitOf, deps: WebSocketDeps): void {
  app.get(PATH, limitOf('quote'), openWebSocket(deps));
}

function openWebSocket(deps: WebSocketDeps): Handler {
  const { streams, sockets, trustedProxies, verifyKey, logger } = deps;
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
    return openSocket(c, deps, (opened) => {
      const { connection } = opened;
      const subscriber = stream.open(webSocketTransport(opened), key !== null);
      const useKey = async (presented: string) => {
        const identity = await verifyKey(presented, () => triesFrom);
        if (!identity) throw invalidApiKey();
        sockets.connections.useKey(connection, identity.keyId);
        subscriber.hasKey = true;
      };
      return runSession(opened, new WsSession({ opened, stream, subscriber, useKey, logger }));
    });
  };
}

const NO_QUERY =
  'a WebSocket takes no query but basis: a key goes in the Authorization header or in a first auth operation';

/** Sends a stream's messages over a WebSocket: texts that have `event` and `id` in front of the data's own fields. */
function webSocketTransport({ socket, tcp }: OpenSocket): StreamTransport {
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
