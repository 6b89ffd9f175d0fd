import { readFile } from 'node:fs/promises';
import type { Hono } from 'hono';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { cacheResult } from '../../runtime/result-cache.ts';
import { ReadyBody, SMALL } from '../http/ready-body.ts';
import { sendFile } from '../http/send-file.ts';

/** Where the build puts the files of `swagger-ui-dist`, so that the page loads nothing from other hosts. */
const DIST = `${PROJECT_ROOT}dist/swagger/`;

const SCRIPT = 'swagger-ui-bundle.js';
const STYLE = 'swagger-ui.css';
const START = 'start.js';

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
  const html = new ReadyBody(page(title), SMALL);
  app.get('/docs', (c) => sendFile(c, 'docs.html', html, 'public, max-age=3600'));
  // Read and compressed at the first request: the script is larger than all else that the API sends.
  for (const name of [SCRIPT, STYLE, START]) {
    const file = cacheResult(() => readDistFile(name), Number.POSITIVE_INFINITY);
    app.get(`/docs/${name}`, async (c) =>
      // The texts are compressed already: proxies need not compress them again.
      sendFile(c, name, await file(), 'public, max-age=86400, no-transform'),
    );
  }
}

async function readDistFile(name: string): Promise<ReadyBody> {
  return new ReadyBody(name === START ? START_TEXT : await readFile(DIST + name), SMALL);
}
