import { z } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { BlockHeaders, ChainIdPath, errorResponse, jsonContent, retriedResponse } from '../declaration/responses.ts';
import { RouteBody } from './route-request.ts';
import { RoutePlan } from './route-response.ts';

const NoPlanBody = z.strictObject({
  code: z.enum(['no_route', 'insufficient_liquidity']).openapi({
    description: '`no_route`: no direct or one-hop path; `insufficient_liquidity`: no path is deep enough.',
  }),
  error: z.string().openapi({ description: 'The same, human-readable.' }),
});

const TOKENS = {
  tokenIn: EXAMPLE.weth,
  tokenOut: EXAMPLE.usdc,
};

/** One WETH for USDC. */
const REQUEST_EXAMPLE = { ...TOKENS, amountIn: '1000000000000000000' };

const AMOUNTS = {
  tradeType: 'exact_in',
  amountIn: '1000000000000000000',
  amountOut: '2997896551',
  effectivePriceX64: '55301430435',
};

const LEG = {
  ...TOKENS,
  ...AMOUNTS,
  poolAddress: EXAMPLE.pool,
  pair: 'WETH/USDC',
  zeroForOne: true,
  priceImpactE6: '1000',
  priceLimitX64: '0',
  gasEstimate: 182000,
};

/** One pool takes the whole order. */
const PLAN_EXAMPLE = {
  ...TOKENS,
  ...AMOUNTS,
  priceImpactBestRoute: '0.001',
  candidatesConsidered: 1,
  gasEstimate: 208000,
  routes: [{ ...AMOUNTS, routeType: 'direct', priceImpactE6: '1000', legs: [LEG] }],
};

export const findRouteDeclaration = {
  operationId: 'findRoute',
  method: 'post',
  path: '/public/v1/evm/{chain_id}/route',
  limit: 'route',
  key: 'optional',
  // Plans are short.
  compress: false,
  tag: 'Routing',
  summary: 'Find a route for an exact-input or exact-output swap',
  description:
    'Walks the depth of every pool that leads from one token to the other, directly or over one token between them. ' +
    'Returns the best route, or a split over several where that gives more for an exact input, or costs less ' +
    'for an exact output. A Trading API key is optional and raises the rate limit.',
  request: { params: z.object({ chain_id: ChainIdPath }), body: { schema: RouteBody, example: REQUEST_EXAMPLE } },
  answer: { description: 'The plan', schema: RoutePlan, example: PLAN_EXAMPLE, headers: BlockHeaders },
  failures: {
    400: errorResponse('Invalid path or body'),
    404: errorResponse('Chain not served'),
    422: { description: 'No plan', content: jsonContent(NoPlanBody) },
    502: retriedResponse('Chain data is not available'),
    503: retriedResponse('Deadline exceeded or database unavailable'),
  },
} as const satisfies ApiRoute;
