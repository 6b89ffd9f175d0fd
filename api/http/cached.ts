import type { MiddlewareHandler } from 'hono';
import { etag } from 'hono/etag';

/** Lets caches keep a good answer for some seconds, and revalidate it by ETag; errors are kept nowhere. */
export function cached(maxAgeSecs: number): MiddlewareHandler[] {
  const allow: MiddlewareHandler = async (c, next) => {
    await next();
    if (c.res.ok) c.header('Cache-Control', `public, max-age=${maxAgeSecs}`);
  };
  return [etag(), allow];
}
