import type { Hono } from 'hono';
import { ReadyBody, sendCached } from '../http/ready-body.ts';
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
  let document: ReadyBody | undefined;
  app.get(path, (c) => {
    document ??= new ReadyBody(JSON.stringify(describe()));
    return sendCached(c, document, DOCUMENT_CACHE_SECS);
  });
}
