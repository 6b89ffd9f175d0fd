import type { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { sendFile } from '../http/send-file.ts';
import type { PageFiles } from './page-files.ts';

/** Paths of the page besides `/`. Its script shows the view that a path names. */
const PATHS = ['/pool/:chain_id/:pool_address', '/route', '/status', '/glossary'];

/** A file never changes under its name. Texts are compressed already. */
const FOREVER = 'public, max-age=31536000, immutable, no-transform';

/** The web page for people, at `/` and below. */
export function mountExplorer(app: Hono, { front, page, assets }: PageFiles): void {
  app.get('/', (c) => sendFile(c, 'index.html', new URL(c.req.url).search === '' ? front : page, 'no-cache'));
  for (const path of PATHS) app.get(path, (c) => sendFile(c, 'index.html', page, 'no-cache'));
  app.get('/assets/:name', (c) => {
    const name = c.req.param('name');
    const asset = assets.get(name);
    if (!asset) throw notFound();
    return sendFile(c, name, asset, FOREVER);
  });
}
