import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { BLOCK_HEADERS, setEarly } from './block-headers.ts';

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

const preflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: ['Authorization', 'Content-Type', 'Last-Event-ID', 'X-Request-Id'],
  exposeHeaders: EXPOSED_HEADERS,
  maxAge: PREFLIGHT_MAX_AGE_SECS,
});

export const REQUEST_ID_HEADER = 'X-Request-Id';
/** Headers of every response but a preflight's. */
export const EVERY_RESPONSE = [
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', EXPOSED_HEADERS.join(',')],
  ['Cache-Control', 'no-store'],
] as const;

const REQUEST_ID = /^[\w\-=]{1,255}$/;

/**
 * What every request gets, mounted first: a name for logs and support, the client's own or a new one, and headers of its
 * response (CORS, no-store).
 * Quotes are older than the contract allows once an edge has kept them, and no error outlives its cause: nothing is stored
 * unless its handler says so. Hono's own CORS opens a response before there is one, which takes every response off the
 * server's fast path for texts: it is left to answer preflights.
 */
export const beginResponse: MiddlewareHandler = async (c, next) => {
  c.set('arrivedAtMs', Date.now());
  const name = requestName(c.req.header('X-Request-Id'));
  c.set('requestId', name);
  setEarly(c, REQUEST_ID_HEADER, name);
  if (c.req.method === 'OPTIONS') return preflight(c, next);
  for (const [header, value] of EVERY_RESPONSE) setEarly(c, header, value);
  await next();
};

/** The name of a request: the client's own `X-Request-Id`, or a new one. */
export const requestName = (given: string | undefined): string =>
  given !== undefined && REQUEST_ID.test(given) ? given : crypto.randomUUID();
