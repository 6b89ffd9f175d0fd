import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { BLOCK_HEADERS, setEarly, TARGET_BLOCK_HEADER } from './block-headers.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Names the request in logs and in the response. */
    requestId: string;
    /** When the request arrived, Unix milliseconds: deadlines count from then. */
    arrivedAtMs: number;
  }
}

/** Why a key that a taker sent counts as none: `unknown`, or `unchecked` while it cannot be looked up. */
export const KEY_IGNORED_HEADER = 'X-Key-Ignored';
const PREFLIGHT_MAX_AGE_SECS = 86_400;
const EXPOSED_HEADERS = [
  'ETag',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
  ...BLOCK_HEADERS,
  TARGET_BLOCK_HEADER,
  KEY_IGNORED_HEADER,
];

const preflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: ['Authorization', 'Content-Type', 'Last-Event-ID', 'X-Api-Key', 'X-Request-Id'],
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
 * Gives every request an id for logs and support, the client's own or a new one, and sets headers of its response
 * (CORS, no-store). Mounted first.
 *
 * 1. No cache stores a response unless its handler says so: stored quotes would be older than the contract allows, and
 *    stored errors would outlive their cause.
 * 2. Hono's own CORS only answers preflights. It opens a response before there is one, which would take every response
 *    off the server's fast path for texts.
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

/** The id of a request: the client's own `X-Request-Id` if it is valid, or a new one. */
export const requestName = (given: string | undefined): string =>
  given !== undefined && REQUEST_ID.test(given) ? given : crypto.randomUUID();
