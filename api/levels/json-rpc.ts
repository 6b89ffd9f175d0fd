import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { ReadyJson } from '../../runtime/joined-json.ts';
import { stringifyJson } from '../../runtime/json.ts';
import type { Logger } from '../../runtime/logger.ts';
import { readJson } from '../body.ts';
import { type ApiError, badRequest, toApiError } from '../errors.ts';
import { isOutage } from '../fault.ts';
import { RpcCall } from './rpc-declaration.ts';

/** Most calls of a batch. */
const MAX_CALLS = 20;

/** Codes of JSON-RPC 2.0, and of its servers, by the status of the same error in a request. -32000 may be retried. */
const CODES: Readonly<Record<number, number>> = {
  400: -32_602,
  401: -32_602,
  404: -32_601,
  413: -32_600,
  422: -32_001,
  429: -32_005,
  503: -32_000,
};
/** Code of any other status. */
const INTERNAL = -32_603;
const PARSE = -32_700;
const INVALID_REQUEST = -32_600;

/** An answer that is read once all calls of its message are taken: then it is known what they need of the chain. */
export class LaterAnswer {
  readonly read: () => Promise<unknown>;

  constructor(read: () => Promise<unknown>) {
    this.read = read;
  }
}

/**
 * Answers one call, or takes it and gives a {@link LaterAnswer}; a {@link ReadyJson} is written as it is.
 *
 * @throws ApiError 404 when there is no such method
 */
export type AnswerCall = (method: string, params: unknown) => Promise<unknown>;

const Id = z.union([z.string(), z.number(), z.bigint(), z.null()]);
/** How libraries write that there are no parameters. */
const NoParams = z.strictObject({}).nullish();
/** Takes more than is declared: other members are ignored. */
const Call = RpcCall.loose().extend({ id: Id.optional(), params: z.unknown().optional() });

/**
 * Answers a message: a call, or a batch of up to 20, which are taken one after the other.
 *
 * @returns null when it holds notifications alone, which get no response
 */
export async function answerMessage(
  bytes: Uint8Array,
  answer: AnswerCall,
  logger: Pick<Logger, 'error'>,
): Promise<string | null> {
  const read = readJson(bytes);
  if ('problem' in read) return errorResponse(null, badRequest(read.problem), PARSE);
  const { value } = read;
  if (!Array.isArray(value)) return (await takeCall(value, answer, logger))();
  if (value.length === 0 || value.length > MAX_CALLS)
    return errorResponse(null, badRequest(`a batch has 1 to ${MAX_CALLS} calls`), INVALID_REQUEST);
  const taken: (() => Promise<string | null>)[] = [];
  for (const call of value) taken.push(await takeCall(call, answer, logger));
  const responses = (await Promise.all(taken.map((respond) => respond()))).filter((response) => response !== null);
  return responses.length === 0 ? null : `[${responses.join()}]`;
}

/** Takes a call. @returns gives its response, null for a notification; to be called when all calls are taken */
async function takeCall(
  value: unknown,
  answer: AnswerCall,
  logger: Pick<Logger, 'error'>,
): Promise<() => Promise<string | null>> {
  const call = Call.safeParse(value).data;
  if (!call) return async () => errorResponse(null, badRequest('not a call of JSON-RPC 2.0'), INVALID_REQUEST);
  const { id, method, params } = call;
  const [taken] = await Promise.allSettled([answer(method, NoParams.safeParse(params).success ? [] : params)]);
  return async () => {
    try {
      if (taken.status === 'rejected') throw taken.reason;
      const result = taken.value instanceof LaterAnswer ? await taken.value.read() : taken.value;
      if (id === undefined) return null;
      const json = result instanceof ReadyJson ? result.json : stringifyJson(result);
      return `{"jsonrpc":"2.0","id":${stringifyJson(id)},"result":${json}}`;
    } catch (error) {
      const known = toApiError(error);
      if (!(known.status in CODES) && !isOutage(known.fault))
        logger.error({ err: error, method }, 'a call of a taker failed');
      return id === undefined ? null : errorResponse(id, known);
    }
  };
}

/** Writes the response to a request that is not read, such as one over a limit: its status, and a JSON-RPC error. */
export function sendRpcError(c: Context, error: ApiError): Response {
  const text = errorResponse(null, error);
  const length = { 'Content-Length': String(Buffer.byteLength(text)) };
  return c.body(text, error.status, { 'Content-Type': 'application/json', ...length, ...error.headers });
}

/** The JSON text of an error response. @param id id of the call; null when the call could not be read */
export const errorResponse = (
  id: z.output<typeof Id>,
  { status, message }: ApiError,
  code = CODES[status] ?? INTERNAL,
): string => stringifyJson({ jsonrpc: '2.0', id, error: { code, message } });
