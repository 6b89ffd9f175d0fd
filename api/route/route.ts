import { jsonBody } from '../body.ts';
import { defineResource } from '../declaration/api-route.ts';
import { tellBlock } from '../http/block-headers.ts';
import type { QuotesDeps } from '../quotes/bid-ask.ts';
import { chainIdParam, type ServedChains, servedChain } from '../request.ts';
import { Deadline } from './deadline.ts';
import { findRouteDeclaration } from './declaration.ts';
import { findRoute, type RouteSources } from './find-route.ts';
import { RouteBody, toRouteRequest } from './route-request.ts';
import { routePlanBody } from './route-response.ts';

export interface RouteDeps extends RouteSources {
  readonly chains: ServedChains;
  /** Told which pools plans use. */
  readonly warmers?: QuotesDeps['warmers'];
}

const DEADLINE_MS = 5_000;

/** `POST /public/v1/evm/{chain_id}/route`. */
export const routeResource = defineResource([findRouteDeclaration], (deps: RouteDeps) => ({
  async findRoute(c) {
    const chain = servedChain(deps.chains, chainIdParam(c));
    const request = toRouteRequest(await jsonBody(c, RouteBody));
    const found = await findRoute(deps, chain.chainId, request, new Deadline(DEADLINE_MS));
    tellBlock(c, found.block);
    const used = found.plan.routes.flatMap(({ fills }) => fills.map(({ hop }) => hop.pool));
    deps.warmers?.of(chain.chainId).requested.markRequested(used, 'depths', c.get('key') !== null);
    return c.json(routePlanBody(found, request.tradeType, request));
  },
}));
