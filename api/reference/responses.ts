import { z } from '@hono/zod-openapi';

/** What the document says of parameters and answers that resources share. */

export const ChainIdPath = z.string().openapi({ type: 'integer', example: 8453 });

export const ErrorBody = z.strictObject({ error: z.string() }).openapi('Error');

export const jsonContent = <S extends z.ZodType>(schema: S) => ({ 'application/json': { schema } });
const textContent = { 'text/plain': { schema: z.string() } };

export const errorResponse = (description: string) => ({ description, content: jsonContent(ErrorBody) });

/** A failure whose body is a bare text: the request could not be parsed. */
export const textErrorResponse = (description: string) => ({ description, content: textContent });

/** A failure that is told in JSON or, when the request could not be parsed, in a bare text. */
export const errorOrTextResponse = (description: string) => ({
  description,
  content: { ...jsonContent(ErrorBody), ...textContent },
});

/** Failures in front of every endpoint. */
export const COMMON_FAILURES = {
  401: errorResponse('Invalid API key'),
  429: errorResponse('Rate limited; `Retry-After` gives the wait in seconds'),
  500: errorResponse('Internal server error; retry'),
} as const;
