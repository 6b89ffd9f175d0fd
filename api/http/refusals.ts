import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { incompleteBody } from '../body.ts';
import { ApiError, notFound } from '../errors.ts';

/** Larger than any valid body: 100 addresses of a batch, or a quote update with hundreds of pools. */
export const MAX_BODY_BYTES = 256 * 1024;

const limitStream = bodyLimit({ maxSize: MAX_BODY_BYTES, onError: rejectLargeBody });

/**
 * Rejects a POST body above 256 KiB with 413.
 *
 * 1. A body with an announced length is not opened here. If it were opened and then not read, the connection would end,
 *    and the client's next request with it.
 * 2. A body without an announced length is read here, up to the limit.
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
    // Errors of handlers have become responses by now, so this error comes from reading the body.
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
 * Returns 404 for a path with segments `.` or `..`, which leads to another endpoint than its beginning names: a proxy
 * before the API may decide by the beginning of a path what it lets through.
 */
export const rejectDotSegments: MiddlewareHandler = (c, next) => {
  // The path as the client sent it: the app routes by a path that is resolved already.
  const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
  if (incoming?.url !== undefined && DOT_SEGMENT.test(incoming.url)) throw notFound();
  return next();
};
