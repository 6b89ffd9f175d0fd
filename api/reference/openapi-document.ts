import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { COMMON_FAILURES, jsonContent } from './responses.ts';

export const API_TITLE = 'Pool Trading Data API';

const DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: API_TITLE,
    version: '1',
    description: 'Listing, quoting, routing and propAMM quote updates of oracle-anchored onchain liquidity pools.',
  },
};

/** The OpenAPI document of these endpoints, from their declarations alone: no database, Redis or chain is asked. */
export function openApiDocument(routes: readonly ApiRoute[]) {
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent('securitySchemes', 'tradingApiKey', { type: 'http', scheme: 'bearer' });
  for (const route of routes) app.openAPIRegistry.registerPath(operationOf(route));
  return app.getOpenAPI31Document(DOCUMENT);
}

/** The security of an operation: each entry is a way to call it. */
const SECURITY = {
  required: [{ tradingApiKey: [] }],
  optional: [{}, { tradingApiKey: [] }],
  none: [],
} satisfies Record<ApiRoute['key'], object[]>;

function operationOf({ operationId, method, path, summary, description, key, ...route }: ApiRoute) {
  const { body, ...request } = route.request;
  return createRoute({
    ...{ operationId, method, path, summary, description },
    tags: [route.tag],
    security: SECURITY[key],
    request: { ...request, ...(body && { body: { required: true, content: jsonContent(body) } }) },
    responses: {
      200: { description: route.answer.description, content: jsonContent(route.answer.schema) },
      ...COMMON_FAILURES,
      ...route.failures,
    },
  });
}
