import { extname } from 'node:path';
import type { Context } from 'hono';
import { type ReadyBody, sendReady } from './ready-body.ts';

/** Headers of pages and their files. They make the browser block loading from, and sending to, any other host. */
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
};

/**
 * Sends a page, or a file of a page.
 *
 * @param name its extension gives the content type
 */
export function sendFile(c: Context, name: string, body: ReadyBody, cacheControl: string): Promise<Response> {
  const type = CONTENT_TYPES[extname(name)] ?? 'application/octet-stream';
  return sendReady(c, body, { ...HEADERS, 'Content-Type': type, 'Cache-Control': cacheControl });
}
