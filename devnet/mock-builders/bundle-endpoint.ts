import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { parseJson } from '../../runtime/json.ts';
import { type MockState, nowNs } from './behaviour.ts';

const integer = z.union([z.int(), z.bigint()]);
const BundleRequest = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.int(),
  method: z.literal('eth_sendBundle'),
  params: z.tuple([
    z.looseObject({
      txs: z.array(z.string()).min(1),
      maxBlockNumber: integer,
      maxTimestamp: integer,
      positionFirst: z.boolean(),
    }),
  ]),
});

/** Answers one `eth_sendBundle` call as the endpoint's behaviour says. */
export async function answerBundle(
  state: MockState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const atNs = nowNs();
  const { id, params } = BundleRequest.parse(parseJson(await text(request)));
  const [bundle] = params;
  state.connections += 1;
  state.authorizations.push(request.headers.authorization);
  const tx = bundle.txs.join(',');
  if (state.record) {
    const blockNumber = bundle.maxBlockNumber.toString();
    const message = { ...bundle, maxBlockNumber: blockNumber, maxTimestamp: Number(bundle.maxTimestamp) };
    state.received.push({ atNs: atNs.toString(), tx, blockNumber, message, connection: state.connections });
  }
  const result = `0x${createHash('sha256').update(`${tx}|${bundle.maxBlockNumber}|${bundle.maxTimestamp}`).digest('hex')}`;
  answer(state, response, id, result);
}

function answer({ behaviour }: MockState, response: ServerResponse, id: number, result: string): void {
  const send = (body: object) => {
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  };
  switch (behaviour.kind) {
    case 'hanging':
      break;
    case 'slow-ack':
      setTimeout(() => send({ result }), behaviour.delayMs);
      break;
    case 'held':
      void behaviour.until.then(() => send({ result }));
      break;
    case 'reject':
      send({ error: { code: -32000, message: behaviour.error } });
      break;
    case 'close-after':
      response.destroy();
      break;
    case 'too-many-requests':
      response.writeHead(429, behaviour.retryAfter === undefined ? {} : { 'Retry-After': behaviour.retryAfter }).end();
      break;
    case 'already-known':
      send({ error: { code: behaviour.code, message: behaviour.message } });
      break;
    case 'http-status':
      response.writeHead(behaviour.status).end();
      break;
    case 'ack':
      send({ result });
  }
}
