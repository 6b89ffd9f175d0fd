import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { answerRpc, INVALID_PARAMS, METHOD_NOT_FOUND } from '../rpc-messages.ts';
import { type MockState, nowNs } from './behaviour.ts';
import { GARBAGE, keyOf, refusalOf, type SocketProtocol } from './sockets.ts';

export const RELAYER_PATH = '/relayer';

const hex = (bytes: string) => z.string().regex(new RegExp(`^0x([0-9a-f]{2})${bytes}$`));
const integer = z.union([z.int(), z.bigint()]).transform(BigInt);

const Update = z.strictObject({
  uuid: hex('{16}'),
  seq: integer.pipe(z.bigint().positive()),
  tx: hex('*'),
  maxBlockNumber: integer.pipe(z.bigint().nonnegative()),
});
const Params = z.tuple([Update]);

/**
 * Answers one JSON-RPC message, strictly in the documented form.
 *
 * @param key of its `x-api-key` header
 */
function answerUpdate(state: MockState, message: string, key: string | undefined, connection: number): string {
  const atNs = nowNs().toString();
  return answerRpc(message, ({ method, params }) => {
    if (method !== 'pamm_sendQuoteUpdateV1') return METHOD_NOT_FOUND;
    const { data } = Params.safeParse(params);
    if (data === undefined) return INVALID_PARAMS;
    const [update] = data;
    const { uuid, seq, tx, maxBlockNumber } = update;
    if (state.record) {
      const [replacementUuid, replacementSeqNumber] = [uuid, seq.toString()];
      const blockNumber = maxBlockNumber.toString();
      state.received.push({ atNs, tx, blockNumber, replacementUuid, replacementSeqNumber, message: {}, connection });
    }
    const { behaviour, relayer } = state;
    const error = behaviour.kind === 'reject' ? behaviour.error : relayer.take(update, key);
    return { result: { uuid, seq, timestamp: Date.now(), ...(error !== '' && { error }) } };
  });
}

/** Its updates over a WebSocket. */
export const RELAYER: SocketProtocol = {
  path: RELAYER_PATH,
  keyHeader: 'x-api-key',
  receive: (state, frame, key, connection) => {
    const response = answerUpdate(state, frame.toString(), key, connection);
    return () => response;
  },
};

/** Answers an update that came as an HTTP request, as the endpoint's behaviour says. */
export async function answerRelayer(state: MockState, request: IncomingMessage, response: ServerResponse) {
  const key = keyOf(request, RELAYER.keyHeader);
  const refusal = refusalOf(state);
  if (refusal) {
    state.refusals += 1;
    return response.writeHead(Number.parseInt(refusal, 10)).end();
  }
  state.connections += 1;
  state.authorizations.push(key);
  const { behaviour } = state;
  const answer = answerUpdate(state, await text(request), key, state.connections);
  if (behaviour.kind === 'hanging') return;
  if (behaviour.kind === 'held') await behaviour.until;
  if (behaviour.kind === 'close-after') return response.destroy();
  if (behaviour.kind === 'slow-ack') return setTimeout(() => response.end(answer), behaviour.delayMs);
  return response.end(behaviour.kind === 'garbage' ? GARBAGE : answer);
}
