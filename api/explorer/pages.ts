import type { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { sendFile } from '../http/send-file.ts';
import type { PageFiles } from './page-files.ts';

/** Paths of the page beside `/`; the script in it shows what each stands for. */
const PATHS = ['/pool/:chain_id/:pool_address', '/route', '/status', '/glossary'];

/** Another content has another name. The texts are compressed already. */
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
