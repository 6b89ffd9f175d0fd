import type { Context } from 'hono';
import { ApiError } from '../errors.ts';

/**
 * The body of a request, as it came. Reading it fails only when the client disconnects or sends another length than it announced:
 * an error of the client, not a defect.
 *
 * @throws ApiError 400
 */
export async function bodyBytes(c: Context): Promise<Uint8Array> {
  try {
    return new Uint8Array(await c.req.arrayBuffer());
  } catch (cause) {
    throw incompleteBody(cause);
  }
}

export const incompleteBody = (cause: unknown): ApiError =>
  new ApiError(400, { error: 'Invalid request body: incomplete' }, { cause });
