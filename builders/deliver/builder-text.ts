import { z } from 'zod';

const MAX_LENGTH = 500;
/** Control characters and unpaired surrogates. The database does not take NUL and surrogates as text. */
const NO_TEXT = /[\p{Cc}\p{Cs}]/gu;

/** Makes a builder's text safe to show, log and store anywhere. */
export const sanitizeBuilderText = (text: string): string => text.slice(0, MAX_LENGTH).replace(NO_TEXT, ' ');

/** An error response of JSON-RPC. */
export const RpcError = z.object({
  error: z.object({ code: z.number().optional(), message: z.string().default('') }),
});

/** Says why a builder refused by an error of JSON-RPC. */
export const describeRpcError = ({ code, message }: z.infer<typeof RpcError>['error']): string =>
  message === '' ? `the builder refused with code ${code ?? 'unknown'}` : sanitizeBuilderText(message);
