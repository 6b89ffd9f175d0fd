import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { RoutingConfig } from '../../config/routing-schema.ts';
import { jsonBody } from '../body.ts';
import { chainIdParam, type ServedChains, servedChain } from '../request.ts';
import { Deadline } from './deadline.ts';
import { findRoute, type RouteSources } from './find-route.ts';
import { RouteRequest } from './route-request.ts';
import { RoutePlan, routePlanBody } from './route-response.ts';

export interface RouteDeps extends RouteSources {
  readonly chains: ServedChains;
  readonly routing: RoutingConfig;
}

const DEADLINE_MS = 5_000;

const failure = (description: string) => ({
  description,
  content: { 'application/json': { schema: z.strictObject({ error: z.string() }) } },
});

const NoPlanBody = z.strictObject({ code: z.enum(['no_route', 'insufficient_liquidity']), error: z.string() });

const route = createRoute({
  operationId: 'findRoute',
  method: 'post',
  path: '/public/v1/evm/{chain_id}/route',
  summary: 'Find a route for an exact-input or exact-output swap',
  security: [{}, { tradingApiKey: [] }],
  request: {
    params: z.object({ chain_id: z.string().openapi({ type: 'integer', example: '8453' }) }),
    body: { required: true, content: { 'application/json': { schema: RouteRequest } } },
  },
  responses: {
    200: { description: 'The plan', content: { 'application/json': { schema: RoutePlan } } },
    400: failure('Invalid path or body'),
    401: failure('Invalid API key'),
    404: failure('Chain not served'),
    422: { description: 'No plan', content: { 'application/json': { schema: NoPlanBody } } },
    429: failure('Rate limited; see Retry-After'),
    500: failure('Internal error; retry'),
    502: failure('Chain data is not available; retry'),
    503: failure('Deadline passed or database away; retry'),
  },
});

/** `POST /public/v1/evm/{chain_id}/route`. */
export function registerRoute(app: OpenAPIHono, deps: RouteDeps): void {
  app.openAPIRegistry.registerPath(route);
  app.post(route.getRoutingPath(), async (c) => {
    const chain = servedChain(deps.chains, chainIdParam(c));
    const request = await jsonBody(c, RouteRequest);
    const deadline = new Deadline(DEADLINE_MS);
    try {
      const found = await findRoute(deps, deps.routing, chain.chainId, request, deadline);
      return c.json(routePlanBody(found, request.tradeType, request));
    } finally {
      deadline.release();
    }
  });
}
