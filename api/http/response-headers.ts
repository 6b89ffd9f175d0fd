import type { Hono, MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { PUBLIC_PREFIX } from '../request.ts';
import { BLOCK_HEADERS } from './block-headers.ts';
import { compressed } from './ready-body.ts';
import { setEarly } from './set-early.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Names the request in logs and in the response. */
    requestId: string;
    /** When the request arrived, Unix milliseconds: deadlines count from then. */
    arrivedAtMs: number;
  }
}

const PREFLIGHT_MAX_AGE_SECS = 86_400;
const EXPOSED_HEADERS = ['ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id', ...BLOCK_HEADERS];
const EXPOSED = EXPOSED_HEADERS.join(',');

/** What every request gets: a name, and headers of its response (CORS, no-store); and the compression of pages. Mounted first. */
export function mountResponseHeaders(app: Hono): void {
  app.use(beginResponse);
  app.use(compressPages);
}

const preflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: ['Authorization', 'Content-Type', 'Last-Event-ID', 'X-Request-Id'],
  exposeHeaders: EXPOSED_HEADERS,
  maxAge: PREFLIGHT_MAX_AGE_SECS,
});

const REQUEST_ID = /^[\w\-=]{1,255}$/;

/**
 * Names the request for logs and support, by the client's own name or a new one, and sets the headers of its response.
 * Quotes are older than the contract allows once an edge has kept them, and no error outlives its cause: nothing is stored
 * unless its handler says so. Hono's own CORS opens a response before there is one, which takes every response off the
 * server's fast path for texts: it is left to answer preflights.
 */
const beginResponse: MiddlewareHandler = async (c, next) => {
  c.set('arrivedAtMs', Date.now());
  const given = c.req.header('X-Request-Id');
  const name = given !== undefined && REQUEST_ID.test(given) ? given : crypto.randomUUID();
  c.set('requestId', name);
  setEarly(c, 'X-Request-Id', name);
  if (c.req.method === 'OPTIONS') return preflight(c, next);
  setEarly(c, 'Access-Control-Allow-Origin', '*');
  setEarly(c, 'Access-Control-Expose-Headers', EXPOSED);
  setEarly(c, 'Cache-Control', 'no-store');
  await next();
};

/** Endpoints declare for themselves whether their answers are compressed. */
const compressPages: MiddlewareHandler = (c, next) =>
  c.req.path.startsWith(PUBLIC_PREFIX) ? next() : compressed(c, next);
