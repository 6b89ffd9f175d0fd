import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { RoutingConfig } from '../../config/routing-schema.ts';
import { jsonBody } from '../body.ts';
import { ChainIdPath, COMMON_FAILURES, errorResponse, jsonContent } from '../reference/responses.ts';
import { chainIdParam, type ServedChains, servedChain } from '../request.ts';
import { Deadline } from './deadline.ts';
import { findRoute, type RouteSources } from './find-route.ts';
import { RouteBody, toRouteRequest } from './route-request.ts';
import { RoutePlan, routePlanBody } from './route-response.ts';

export interface RouteDeps extends RouteSources {
  readonly chains: ServedChains;
  readonly routing: RoutingConfig;
}

const DEADLINE_MS = 5_000;

const NoPlanBody = z.strictObject({ code: z.enum(['no_route', 'insufficient_liquidity']), error: z.string() });

const route = createRoute({
  operationId: 'findRoute',
  method: 'post',
  path: '/public/v1/evm/{chain_id}/route',
  summary: 'Find a route for an exact-input or exact-output swap',
  security: [{}, { tradingApiKey: [] }],
  request: {
    params: z.object({ chain_id: ChainIdPath }),
    body: { required: true, content: jsonContent(RouteBody) },
  },
  responses: {
    200: { description: 'The plan', content: jsonContent(RoutePlan) },
    ...COMMON_FAILURES,
    400: errorResponse('Invalid path or body'),
    404: errorResponse('Chain not served'),
    422: { description: 'No plan', content: jsonContent(NoPlanBody) },
    502: errorResponse('Chain data is not available; retry'),
    503: errorResponse('Deadline passed or database away; retry'),
  },
});

/** `POST /public/v1/evm/{chain_id}/route`. */
export function registerRoute(app: OpenAPIHono, deps: RouteDeps): void {
  app.openAPIRegistry.registerPath(route);
  app.post(route.getRoutingPath(), async (c) => {
    const chain = servedChain(deps.chains, chainIdParam(c));
    const request = toRouteRequest(await jsonBody(c, RouteBody));
    const deadline = new Deadline(DEADLINE_MS);
    try {
      const found = await findRoute(deps, deps.routing, chain.chainId, request, deadline);
      return c.json(routePlanBody(found, request.tradeType, request));
    } finally {
      deadline.release();
    }
  });
}
