import type { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { PAGE_HEADERS } from '../http/page-headers.ts';
import { sendReady } from '../http/ready-body.ts';
import type { PageFiles } from './page-files.ts';

/** Paths of the page beside `/`; the script in it shows what each stands for. */
const PATHS = ['/pool/:chain_id/:pool_address', '/route', '/status', '/glossary'];

const PAGE = { ...PAGE_HEADERS, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' };
/** Another content has another name. The texts are compressed already. */
const FOREVER = { ...PAGE_HEADERS, 'Cache-Control': 'public, max-age=31536000, immutable, no-transform' };

/** The web page for people, at `/` and below. */
export function mountExplorer(app: Hono, { front, page, assets }: PageFiles): void {
  app.get('/', (c) => sendReady(c, new URL(c.req.url).search === '' ? front : page, PAGE));
  for (const path of PATHS) app.get(path, (c) => sendReady(c, page, PAGE));
  app.get('/assets/:name', (c) => {
    const asset = assets.get(c.req.param('name'));
    if (!asset) throw notFound();
    return sendReady(c, asset.body, { ...FOREVER, 'Content-Type': asset.type });
  });
}
