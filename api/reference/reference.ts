import type { Hono } from 'hono';
import { cached } from '../http/cached.ts';
import { mountDocsPage } from './docs-page.ts';
import { API_TITLE } from './openapi-document.ts';

const DOCUMENT_CACHE_SECS = 300;

/** The documents of the API; each takes milliseconds to make. */
export type Documents = { readonly openapi: () => object; readonly asyncapi: () => object };

/** `/openapi.json`, `/asyncapi.json` and `/docs`, an interactive page over them. */
export function mountReference(app: Hono, documents: Documents): void {
  for (const [name, describe] of Object.entries(documents)) mountDocument(app, `/${name}.json`, describe);
  mountDocsPage(app, API_TITLE);
}

/** @param describe called once, at the first request */
function mountDocument(app: Hono, path: string, describe: () => object): void {
  let document: string | undefined;
  app.use(path, cached(DOCUMENT_CACHE_SECS));
  app.get(path, (c) => {
    document ??= JSON.stringify(describe());
    return c.body(document, 200, { 'Content-Type': 'application/json' });
  });
}
