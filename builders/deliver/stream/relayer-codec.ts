import { z } from 'zod';
import { parseJson, stringifyJson } from '../../../runtime/json.ts';
import type { Answer } from '../../submit/answer.ts';
import { describeRpcError, RpcError } from '../builder-text.ts';
import { acknowledgement, type StreamCodec, updateKey } from './stream-codec.ts';

/** Year 2286: the nanoseconds of earlier times fit into 64 bits. */
const MAX_TIME_MS = 10_000_000_000_000;

/** A result says what became of the update in `error`, which is empty or missing on success. */
const Response = z.union([
  RpcError.extend({ id: z.string() }),
  z.object({
    id: z.string(),
    result: z.object({
      /** Unix milliseconds. A malformed time does not undo an acknowledgement. */
      timestamp: z.int().min(1).max(MAX_TIME_MS).optional().catch(undefined),
      error: z.string().nullish(),
    }),
  }),
]);

/**
 * Updates as the relayer of BNB Chain takes them (BAP-710): JSON-RPC calls of `pamm_sendQuoteUpdateV1`, whose id is the
 * update's key. The last block of an update is its `maxBlockNumber`; a `tx` of `0x` is a cancel.
 */
export const RELAYER: StreamCodec = {
  keyHeader: 'x-api-key',
  hasHttp: true,
  encode: (update) => {
    const { replacementUuid: uuid, replacementSeqNumber: seq, tx, blockNumber: maxBlockNumber } = update;
    const params = [{ uuid, seq, tx, maxBlockNumber }];
    return stringifyJson({ jsonrpc: '2.0', id: updateKey(update), method: 'pamm_sendQuoteUpdateV1', params });
  },
  decode: (message) => {
    const response = Response.parse(parseJson(message.toString()));
    return { key: response.id, answer: toAnswer(response) };
  },
};

function toAnswer(response: z.infer<typeof Response>): Answer {
  if (!('result' in response)) return { accepted: false, error: describeRpcError(response.error) };
  const { error, timestamp = 0 } = response.result;
  return acknowledgement(error ?? '', BigInt(timestamp) * 1_000_000n);
}
