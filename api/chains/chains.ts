import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { COMMON_FAILURES, jsonContent } from '../reference/responses.ts';
import type { ServedChains } from '../request.ts';

export const Chain = z
  .strictObject({
    chainId: z.int().openapi({ example: 8453 }),
    name: z.string().openapi({ example: 'base', description: 'Casing varies by chain: key on the id.' }),
  })
  .openapi('Chain');

const route = createRoute({
  operationId: 'listChains',
  method: 'get',
  path: '/public/v1/chains',
  summary: 'List the supported chains',
  responses: {
    200: { description: 'Every chain served', content: jsonContent(z.array(Chain)) },
    ...COMMON_FAILURES,
  },
});

/** `GET /public/v1/chains`: a bare array in the order of the configuration. */
export function registerChains(app: OpenAPIHono, chains: ServedChains): void {
  const body = JSON.stringify([...chains.values()].map(({ chainId, name }) => ({ chainId, name })));
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) };
  app.openAPIRegistry.registerPath(route);
  app.get(route.getRoutingPath(), (c) => c.body(body, 200, headers));
}
