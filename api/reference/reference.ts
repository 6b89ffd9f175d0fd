import type { OpenAPIHono } from '@hono/zod-openapi';
import { registerDocsPage } from './docs-page.ts';

const DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'Pool Trading Data API',
    version: '1',
    description: 'Listing, quoting, routing and propAMM quote updates of oracle-anchored onchain liquidity pools.',
  },
};

/** The OpenAPI document of everything registered on the app; registered after the resources. */
export function openApiDocument(app: OpenAPIHono) {
  return app.getOpenAPI31Document(DOCUMENT);
}

/** `/openapi.json` and `/docs`, an interactive page over it. */
export function registerReference(app: OpenAPIHono): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'tradingApiKey', { type: 'http', scheme: 'bearer' });
  // Made once, at the first request: every route is registered by then, and making it takes milliseconds.
  let document: string | undefined;
  app.get('/openapi.json', (c) => {
    document ??= JSON.stringify(openApiDocument(app));
    return c.body(document, 200, { 'Content-Type': 'application/json' });
  });
  registerDocsPage(app, DOCUMENT.info.title);
}
