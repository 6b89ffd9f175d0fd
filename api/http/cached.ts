import type { Context, MiddlewareHandler } from 'hono';
import { etag } from 'hono/etag';
import { type ReadyJson, sendJson } from './compressed.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The Cache-Control of a good answer, where caches may keep it. */
    cacheControl?: string;
    /** Whether the answer has its headers for caches. */
    isTagged?: boolean;
  }
}

const hashed = etag();

/** Lets caches keep a good answer for some seconds, and revalidate it by ETag; errors are kept nowhere. */
export function cached(maxAgeSecs: number): MiddlewareHandler {
  const cacheControl = `public, max-age=${maxAgeSecs}`;
  return async (c, next) => {
    c.set('cacheControl', cacheControl);
    await next();
    if (c.get('isTagged')) return;
    if (c.res.ok) c.header('Cache-Control', cacheControl);
    await hashed(c, async () => undefined);
  };
}

/** A text under a hash of it, without quotes. */
export type TaggedJson = ReadyJson & { readonly hash: string };

/**
 * Sends it, or 304 to a client that has it: compressed or not it is the same, which a weak tag may say. A header that is
 * put into an answer after it was made takes the answer off the server's fast path.
 */
export async function sendTagged(c: Context, ready: TaggedJson): Promise<Response> {
  c.set('isTagged', true);
  const cacheControl = c.get('cacheControl');
  const headers = { ETag: `W/"${ready.hash}"`, ...(cacheControl && { 'Cache-Control': cacheControl }) };
  const had = c.req.header('If-None-Match');
  const isKnown = had === '*' || had?.match(/"[^"]*"/g)?.includes(`"${ready.hash}"`);
  return isKnown ? c.body(null, 304, { ...headers, Vary: 'Accept-Encoding' }) : sendJson(c, ready, headers);
}
