import type { Context } from 'hono';

/** Whether the client takes gzip: it names it without refusing it by `q=0`. */
export const acceptsGzip = (c: Context): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(c.req.header('Accept-Encoding') ?? '');
