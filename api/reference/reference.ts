import type { Hono } from 'hono';
import { cached } from '../http/cached.ts';
import { mountDocsPage } from './docs-page.ts';
import { API_TITLE } from './openapi-document.ts';

const DOCUMENT_CACHE_SECS = 300;

/**
 * `/openapi.json` and `/docs`, an interactive page over it.
 *
 * @param describe makes the document, which takes milliseconds: called once, at the first request
 */
export function mountReference(app: Hono, describe: () => object): void {
  let document: string | undefined;
  app.use('/openapi.json', ...cached(DOCUMENT_CACHE_SECS));
  app.get('/openapi.json', (c) => {
    document ??= JSON.stringify(describe());
    return c.body(document, 200, { 'Content-Type': 'application/json' });
  });
  mountDocsPage(app, API_TITLE);
}
