import { bodyBytes } from '../body.ts';
import { defineResource } from '../declaration/api-route.ts';
import { chainIdParam, servedChain } from '../request.ts';
import type { SocketDeps } from '../stream/web-socket.ts';
import { type AnswerCall, answerMessage } from './json-rpc.ts';
import { callTakers } from './rpc-declaration.ts';
import { answerTaker, type TakersDeps, takerOf } from './taker-calls.ts';

/** `POST /rpc/{chain_id}`. */
export const rpcResource = defineResource(
  [callTakers],
  ({ takers, logger }: TakersDeps & Pick<SocketDeps, 'logger'>) => ({
    async callTakers(c) {
      const chain = servedChain(takers, chainIdParam(c));
      const taker = takerOf(c.get('key') !== null);
      const answer: AnswerCall = (method, params) => answerTaker(chain, taker, method, params);
      const response = await answerMessage(await bodyBytes(c), answer, logger);
      return response === null ? c.body(null, 204) : c.body(response, 200, { 'Content-Type': 'application/json' });
    },
  }),
);
