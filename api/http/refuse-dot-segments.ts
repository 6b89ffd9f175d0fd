import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { notFound } from '../errors.ts';

/** A segment `.` or `..` of the path, escaped or not. */
const DOT_SEGMENT = /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i;

/**
 * Answers 404 to a path with segments that URLs resolve, which leads to another endpoint than it names: what stands before
 * the API lets through by the beginning of a path.
 */
export const refuseDotSegments: MiddlewareHandler = (c, next) => {
  // As it was sent: the path that the app routes by is resolved already.
  const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
  if (incoming?.url !== undefined && DOT_SEGMENT.test(incoming.url)) throw notFound();
  return next();
};
