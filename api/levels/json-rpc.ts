import { z } from 'zod';
import { AppError } from '../../config/app-error.ts';
import { stringifyJson } from '../../runtime/json.ts';
import type { Logger } from '../../runtime/logger.ts';
import { readJson } from '../body.ts';
import { toApiError } from '../errors.ts';

/** Most calls of a batch. */
const MAX_CALLS = 20;

/** Codes of JSON-RPC 2.0, and of its servers: `unavailable` may be retried. */
const CODES = {
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  unavailable: -32_000,
  unauthorized: -32_001,
  limited: -32_005,
} as const;

/** A call that fails, as its client sees it. */
export class RpcError extends AppError {
  readonly retryable: boolean;

  constructor(
    readonly code: keyof typeof CODES,
    message: string,
  ) {
    super(message);
    this.retryable = code === 'unavailable' || code === 'limited';
  }
}

/** Answers one call. @throws RpcError, ApiError */
export type AnswerCall = (method: string, params: unknown) => Promise<unknown>;

/** A result that is JSON already. */
export class RpcJson {
  constructor(readonly json: string) {}
}

type Id = string | number | bigint | null;

const Call = z.looseObject({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  id: z.union([z.string(), z.number(), z.bigint(), z.null()]).optional(),
  params: z.unknown().optional(),
});

/**
 * Answers a message: a call, or a batch of up to 20, one after the other.
 *
 * @returns null when it holds notifications alone, which get no response
 */
export async function answerMessage(
  bytes: Uint8Array,
  answer: AnswerCall,
  logger: Pick<Logger, 'error'>,
): Promise<string | null> {
  const read = readJson(bytes);
  if ('problem' in read) return errorResponse(null, new RpcError('parse', read.problem));
  const { value } = read;
  if (!Array.isArray(value)) return answerCall(value, answer, logger);
  if (value.length === 0 || value.length > MAX_CALLS)
    return errorResponse(null, new RpcError('invalidRequest', `a batch has 1 to ${MAX_CALLS} calls`));
  const responses: string[] = [];
  for (const call of value) {
    const response = await answerCall(call, answer, logger);
    if (response !== null) responses.push(response);
  }
  return responses.length === 0 ? null : `[${responses.join()}]`;
}

async function answerCall(value: unknown, answer: AnswerCall, logger: Pick<Logger, 'error'>): Promise<string | null> {
  const call = Call.safeParse(value).data;
  if (!call) return errorResponse(null, new RpcError('invalidRequest', 'not a call of JSON-RPC 2.0'));
  const { id, method, params = [] } = call;
  try {
    const result = await answer(method, params);
    if (id === undefined) return null;
    const json = result instanceof RpcJson ? result.json : stringifyJson(result);
    return `{"jsonrpc":"2.0","id":${stringifyJson(id)},"result":${json}}`;
  } catch (error) {
    const known = rpcErrorOf(error);
    if (known.code === 'internal') logger.error({ err: error, method }, 'a call of a taker failed');
    return id === undefined ? null : errorResponse(id, known);
  }
}

/** The text of an error. @param id null where the call could not be read */
export function errorResponse(id: Id, { code, message }: RpcError): string {
  return stringifyJson({ jsonrpc: '2.0', id, error: { code: CODES[code], message } });
}

/** What a client sees of an error of the service. */
function rpcErrorOf(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const { status, message } = toApiError(error);
  const kinds = { 400: 'invalidParams', 401: 'unauthorized', 429: 'limited', 503: 'unavailable' } as const;
  return new RpcError(kinds[status as keyof typeof kinds] ?? 'internal', message);
}
