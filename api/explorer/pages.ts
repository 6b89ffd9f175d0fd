import type { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { sendFile } from '../http/ready-file.ts';
import type { PageFiles } from './page-files.ts';

/** Paths of the page beside `/`; the script in it shows what each stands for. */
const PATHS = ['/pool/:chain_id/:pool_address', '/route', '/status', '/glossary'];

/** The browser itself keeps the page from loading or sending anything elsewhere. */
const GUARDED = {
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
};

const PAGE = { ...GUARDED, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' };
/** Another content has another name. The texts are compressed already. */
const FOREVER = { ...GUARDED, 'Cache-Control': 'public, max-age=31536000, immutable, no-transform' };

/** The web page for people, at `/` and below. */
export function mountExplorer(app: Hono, { front, page, assets }: PageFiles): void {
  app.get('/', (c) => sendFile(c, new URL(c.req.url).search === '' ? front : page, PAGE));
  for (const path of PATHS) app.get(path, (c) => sendFile(c, page, PAGE));
  app.get('/assets/:name', (c) => {
    const asset = assets.get(c.req.param('name'));
    if (!asset) throw notFound();
    return sendFile(c, asset.file, { ...FOREVER, 'Content-Type': asset.type });
  });
}
