import type { Hono } from 'hono';
import { chainIdParam, RPC_PREFIX, servedChain } from '../request.ts';
import { assertUpgrade, openSocket, type SocketDeps } from '../stream/web-socket.ts';
import type { TakersDeps } from './taker-calls.ts';
import { TakerSession } from './taker-session.ts';

/** Mounts the WebSocket of each chain's JSON-RPC, after the endpoint at its path: opening one counts as a call. */
export function mountTakerSockets(app: Hono, deps: TakersDeps & SocketDeps): void {
  app.get(`${RPC_PREFIX}:chain_id`, async (c) => {
    const chain = servedChain(deps.takers, chainIdParam(c));
    assertUpgrade(c);
    const onTimeout = () => chain.levels.countTermination('timeout');
    return openSocket(c, deps, onTimeout, (socket, tcp) => {
      const session = new TakerSession(socket, tcp, chain, c.get('key') !== null, deps.logger);
      return (reason) => session.end(reason);
    });
  });
}
