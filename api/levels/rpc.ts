import { bodyBytes } from '../body.ts';
import { defineResource } from '../declaration/api-route.ts';
import { chainIdParam, servedChain } from '../request.ts';
import type { SocketDeps } from '../sockets/open-socket.ts';
import { answerMessage } from './json-rpc.ts';
import { callTakers } from './rpc-declaration.ts';
import { TakerCalls, type TakersDeps, takerClient } from './taker-calls.ts';

/** `POST /rpc/{chain_id}`. */
export const rpcResource = defineResource(
  [callTakers],
  ({ takers, logger }: TakersDeps & Pick<SocketDeps, 'logger'>) => ({
    async callTakers(c) {
      const chain = servedChain(takers, chainIdParam(c));
      const answer = new TakerCalls(chain, takerClient(c, 1)).answers();
      const response = await answerMessage(await bodyBytes(c), answer, logger);
      return response === null ? c.body(null, 204) : c.body(response, 200, { 'Content-Type': 'application/json' });
    },
  }),
);
