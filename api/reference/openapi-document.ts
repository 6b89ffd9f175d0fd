import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { COMMON_FAILURES, errorResponse, type Failures, jsonContent } from '../declaration/responses.ts';
import { MAX_BODY_BYTES } from '../http/refusals.ts';

export const API_TITLE = 'Pool Trading Data API';

const DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: API_TITLE,
    version: '1',
    description:
      'Listing, quoting, routing and propAMM quote updates of oracle-anchored onchain liquidity pools. Amounts and ' +
      'prices are decimal strings of integers; Q64.64 is a fixed-point number scaled by 2^64. Addresses of requests are ' +
      'case-insensitive. A Trading API key that is sent must be valid, but for price levels and JSON-RPC.',
    contact: { name: 'The operator of this service' },
    // No licence is granted. SPDX has no identifier for that, only references that one defines.
    license: { name: 'All rights reserved', identifier: 'LicenseRef-UNLICENSED' },
  },
  servers: [{ url: '/', description: 'The host that serves this document.' }],
  tags: [
    { name: 'Listing', description: 'Chains, pools and trades.' },
    { name: 'Quotes', description: 'Current prices and depth of pools.' },
    { name: 'Charts', description: "The data feed of TradingView's charting library." },
    { name: 'Routing', description: 'The best way from one token to another.' },
    { name: 'Quote updates', description: "Market makers' quotes for block builders." },
    { name: 'Listing sites', description: 'What DEX Screener, GeckoTerminal, CoinGecko, DEXTools and DefiLlama read.' },
    { name: 'Service', description: 'How current the data is.' },
  ] satisfies { name: ApiRoute['tag']; description: string }[],
};

/** Makes the OpenAPI document of these endpoints from their declarations alone, without database, Redis or chain. */
export function openApiDocument(routes: readonly ApiRoute[]) {
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent('securitySchemes', 'tradingApiKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'Trading API key. Issued by the operator.',
  });
  for (const route of routes) app.openAPIRegistry.registerPath(operationOf(route));
  return app.getOpenAPI31Document(DOCUMENT);
}

/** The security of an operation: each entry is a way to call it. */
const SECURITY = {
  required: [{ tradingApiKey: [] }],
  optional: [{}, { tradingApiKey: [] }],
  none: [],
} satisfies Record<ApiRoute['key'], object[]>;

function operationOf({ operationId, method, path, summary, description, key, answer, ...route }: ApiRoute) {
  const { body, ...request } = route.request ?? {};
  const json = jsonContent(answer.schema, answer.example);
  return createRoute({
    operationId,
    method,
    path,
    summary,
    description,
    tags: [route.tag],
    security: SECURITY[key],
    request: { ...request, ...(body && { body: { required: true, content: jsonContent(body.schema, body.example) } }) },
    responses: {
      200: {
        description: answer.description,
        ...(answer.headers && { headers: answer.headers }),
        content: route.streams ? eventContent(json) : json,
      },
      ...shown(COMMON_FAILURES),
      ...(body && { 413: errorResponse(`Body larger than ${MAX_BODY_BYTES} bytes`) }),
      ...shown(route.failures ?? {}),
    },
  });
}

/** The failures without what their descriptions say in words. */
const shown = (failures: Failures) =>
  Object.fromEntries(Object.entries(failures).map(([status, { isRetried: _, ...response }]) => [status, response]));

/** What a stream reports: each event carries JSON. */
const eventContent = (json: ReturnType<typeof jsonContent>) => ({ 'text/event-stream': json['application/json'] });
