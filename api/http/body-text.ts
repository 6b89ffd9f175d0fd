import type { Context } from 'hono';
import { ApiError } from '../errors.ts';

/**
 * The body of a request. Reading it fails only when the client disconnects or sends another length than it announced:
 * an error of the client, not a defect.
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
