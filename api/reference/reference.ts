import type { Hono } from 'hono';
import { ReadyBody, SMALL, sendCached } from '../http/ready-body.ts';
import { sendFile } from '../http/send-file.ts';
import { mountClientReference } from './client-reference.ts';
import { mountDocsPage } from './docs-page.ts';
import { API_TITLE } from './openapi-document.ts';

const DOCUMENT_CACHE_SECS = 300;

/** The documents of the API; each takes milliseconds to make. */
export type Documents = { readonly openapi: () => object; readonly asyncapi: () => object };

/** A list of the documents for language models, in the form of llmstxt.org. */
const LLMS_TEXT = `# ${API_TITLE}

> HTTP API in front of onchain liquidity pools: listings, executable quotes, routes, streams, and quote updates of market makers.

Amounts and prices are decimal strings of integers; a price is multiplied by 2^64. Trade only on quotes with status \`healthy\`.

## Documents

- [OpenAPI](/openapi.json): every operation, parameter, response and error
- [AsyncAPI](/asyncapi.json): messages of the streams, over server-sent events and WebSocket
- [Interactive reference](/docs): the OpenAPI document as a page
- [TypeScript client](/docs/client/): arithmetic, calls and streams that clients need not write
- [Status](/public/v1/status): how current the data of each chain is
`;

/** Mounts `/openapi.json`, `/asyncapi.json`, the pages `/docs` and `/docs/client`, and `/llms.txt`, a list of them. */
export function mountReference(app: Hono, documents: Documents): void {
  for (const [name, describe] of Object.entries(documents)) mountDocument(app, `/${name}.json`, describe);
  mountDocsPage(app, API_TITLE);
  mountClientReference(app);
  const llms = new ReadyBody(LLMS_TEXT, SMALL);
  app.get('/llms.txt', (c) => sendFile(c, 'llms.txt', llms, 'public, max-age=3600'));
}

/** @param describe called once, at the first request */
function mountDocument(app: Hono, path: string, describe: () => object): void {
  let document: ReadyBody | undefined;
  app.get(path, (c) => {
    document ??= new ReadyBody(JSON.stringify(describe()));
    return sendCached(c, document, DOCUMENT_CACHE_SECS);
  });
}
