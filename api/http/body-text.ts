import type { Context } from 'hono';
import { ApiError } from '../errors.ts';

/**
 * The body of a request. Reading it fails only by the client: it went away, or what it sent is not what it announced.
 * That is no defect of ours, whatever the answer that nobody receives.
 *
 * @throws ApiError 400
 */
export async function bodyText(c: Context): Promise<string> {
  try {
    return await c.req.text();
  } catch (cause) {
    throw incompleteBody(cause);
  }
}

export const incompleteBody = (cause: unknown): ApiError =>
  new ApiError(400, { error: 'Invalid request body: incomplete' }, { cause });
