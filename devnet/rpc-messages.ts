import { z } from 'zod';
import { parseJson, stringifyJson } from '../runtime/json.ts';

const Call = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.int(), z.string()]),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});

export type RpcCall = z.infer<typeof Call>;

export type RpcOutcome =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

export const METHOD_NOT_FOUND: RpcOutcome = { error: { code: -32_601, message: 'the method does not exist' } };
export const WRONG_KEY: RpcOutcome = { error: { code: -32_000, message: 'invalid API key' } };
export const INVALID_PARAMS: RpcOutcome = { error: { code: -32_602, message: 'invalid params' } };

/**
 * Answers one JSON-RPC request.
 *
 * @param text of the request
 * @returns text of the response; an error response when the text is not a request
 */
export function answerRpc(text: string, answer: (call: RpcCall) => RpcOutcome): string {
  const call = Call.safeParse(jsonOf(text)).data;
  if (call === undefined) return response(null, { error: { code: -32_600, message: 'not a JSON-RPC request' } });
  return response(call.id, answer(call));
}

function response(id: number | string | null, answer: RpcOutcome): string {
  return stringifyJson({ jsonrpc: '2.0', id, ...answer });
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // Reported as no request.
  }
}
