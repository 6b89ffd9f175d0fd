import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { incompleteBody } from '../body.ts';
import { ApiError, notFound } from '../errors.ts';

/** Larger than any valid body: 100 addresses of a batch, or a quote update with hundreds of pools. */
export const MAX_BODY_BYTES = 256 * 1024;

const limitStream = bodyLimit({ maxSize: MAX_BODY_BYTES, onError: rejectLargeBody });

/**
 * Refuses a body of a POST above 256 KiB with 413. One with a length is not touched here: a body that was opened and then not read
 * would end the connection, and with it the client's next request. One without a length is read here, up to the limit.
 */
export const limitBody: MiddlewareHandler = async (c, next) => {
  if (c.req.method !== 'POST') return next();
  if (c.req.header('Transfer-Encoding') === undefined) {
    if (Number(c.req.header('Content-Length') ?? 0) > MAX_BODY_BYTES) rejectLargeBody();
    return next();
  }
  try {
    return await limitStream(c, next);
  } catch (error) {
    // What handlers throw has become an answer before it gets here.
    throw error instanceof ApiError ? error : incompleteBody(error);
  }
};

function rejectLargeBody(): never {
  // The rest of the body is not read, so the connection cannot serve another request.
  const headers = { Connection: 'close' };
  throw new ApiError(413, { error: `Request body is larger than ${MAX_BODY_BYTES} bytes` }, { headers });
}

/** A segment `.` or `..` of the path, escaped or not. */
const DOT_SEGMENT = /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i;

/**
 * Answers 404 to a path with segments that URLs resolve, which leads to another endpoint than it names: what stands before
 * the API lets through by the beginning of a path.
 */
export const rejectDotSegments: MiddlewareHandler = (c, next) => {
  // As it was sent: the path that the app routes by is resolved already.
  const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
  if (incoming?.url !== undefined && DOT_SEGMENT.test(incoming.url)) throw notFound();
  return next();
};
