import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Hono } from 'hono';
import { LRUCache } from 'lru-cache';
import { PAGE_HEADERS } from '../http/page-headers.ts';
import { ReadyBody, SMALL, sendReady } from '../http/ready-body.ts';

/** Where the page's files lie: in a package of finished files, so that the page asks no host but its own. */
const DIST = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json');

const SCRIPT = 'swagger-ui-bundle.js';
const STYLE = 'swagger-ui.css';
const START = 'start.js';

const CONTENT_TYPES = {
  [SCRIPT]: 'text/javascript; charset=utf-8',
  [STYLE]: 'text/css; charset=utf-8',
  [START]: 'text/javascript; charset=utf-8',
} as const;

/** `validatorUrl` would send the document's address to an external service. */
const START_TEXT = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null });\n`;

const page = (title: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/${STYLE}">
</head>
<body>
<p>Streams of quotes: <a href="/asyncapi.json">AsyncAPI document</a></p>
<div id="reference"></div>
<script src="/docs/${SCRIPT}"></script>
<script src="/docs/${START}"></script>
</body>
</html>
`;

/** `/docs`, an interactive page over `/openapi.json`, and the files that it is made of. */
export function mountDocsPage(app: Hono, title: string): void {
  app.get('/docs', (c) => c.html(page(title), 200, { ...PAGE_HEADERS, 'Cache-Control': 'public, max-age=3600' }));
  // Read and compressed at the first request: the script is larger than all else that the API sends.
  const files = new LRUCache({ max: 3, fetchMethod: readDistFile });
  for (const [name, type] of Object.entries(CONTENT_TYPES)) {
    // The texts are compressed already: nothing on the way need do it again.
    const headers = { ...PAGE_HEADERS, 'Content-Type': type, 'Cache-Control': 'public, max-age=86400, no-transform' };
    app.get(`/docs/${name}`, async (c) => sendReady(c, await files.forceFetch(name), headers));
  }
}

async function readDistFile(name: string): Promise<ReadyBody> {
  return new ReadyBody(name === START ? START_TEXT : await readFile(new URL(name, `file://${DIST}`)), SMALL);
}
