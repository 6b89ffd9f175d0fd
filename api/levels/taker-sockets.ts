import type { Hono } from 'hono';
import type { LimitOf } from '../limits/rate-limit.ts';
import { chainIdParam, RPC_PREFIX, servedChain } from '../request.ts';
import { assertUpgrade, openSocket, type SocketDeps } from '../stream/web-socket.ts';
import { callTakers } from './rpc-declaration.ts';
import type { TakersDeps } from './taker-calls.ts';
import { TakerSession } from './taker-session.ts';

/** Mounts the WebSocket of each chain's JSON-RPC. Opening one counts as a call. */
export function mountTakerSockets(app: Hono, limitOf: LimitOf, deps: TakersDeps & SocketDeps): void {
  app.get(`${RPC_PREFIX}:chain_id`, limitOf(callTakers.limit), async (c) => {
    const chain = servedChain(deps.takers, chainIdParam(c));
    assertUpgrade(c);
    const onTimeout = () => chain.levels.countTermination('timeout');
    return openSocket(c, deps, onTimeout, (socket, tcp) => {
      const session = new TakerSession(socket, tcp, chain, c.get('key') !== null);
      return (reason) => session.end(reason);
    });
  });
}
