import type { Hono, MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { PUBLIC_PREFIX } from '../declaration/api-route.ts';
import { BLOCK_HEADERS } from './block-headers.ts';
import { compressed } from './compressed.ts';
import { setEarly } from './set-early.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Names the request in logs and in the answer. */
    requestId: string;
  }
}

const PREFLIGHT_MAX_AGE_SECS = 86_400;
const EXPOSED_HEADERS = ['ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id', ...BLOCK_HEADERS];
const EXPOSED = EXPOSED_HEADERS.join(',');

/** Headers of every response: request id, CORS, no-store; and the compression of pages. Mounted first. */
export function mountResponseHeaders(app: Hono): void {
  app.use(nameRequest);
  app.use(allowAnyOrigin);
  app.use(storeNothing);
  app.use(compressPages);
}

const preflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: ['Authorization', 'Content-Type', 'Last-Event-ID', 'X-Request-Id'],
  exposeHeaders: EXPOSED_HEADERS,
  maxAge: PREFLIGHT_MAX_AGE_SECS,
});

/**
 * Hono's own middleware opens a response before there is one, which takes every answer off the server's fast path for
 * texts: it is left to answer preflights.
 */
const allowAnyOrigin: MiddlewareHandler = async (c, next) => {
  if (c.req.method === 'OPTIONS') return preflight(c, next);
  setEarly(c, 'Access-Control-Allow-Origin', '*');
  setEarly(c, 'Access-Control-Expose-Headers', EXPOSED);
  await next();
};

/** Quotes are older than the contract allows once an edge has kept them, and no error outlives its cause. */
const storeNothing: MiddlewareHandler = async (c, next) => {
  setEarly(c, 'Cache-Control', 'no-store');
  await next();
};

const REQUEST_ID = /^[\w\-=]{1,255}$/;

/** Gives each request a name for logs and support: the client's own, or a new one. */
const nameRequest: MiddlewareHandler = async (c, next) => {
  const given = c.req.header('X-Request-Id');
  const name = given !== undefined && REQUEST_ID.test(given) ? given : crypto.randomUUID();
  c.set('requestId', name);
  setEarly(c, 'X-Request-Id', name);
  await next();
};

/** Endpoints declare for themselves whether their answers are compressed. */
const compressPages: MiddlewareHandler = (c, next) =>
  c.req.path.startsWith(PUBLIC_PREFIX) ? next() : compressed(c, next);
