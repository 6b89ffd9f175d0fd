import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { Registry } from 'prom-client';
import type { Front } from '../runtime/http-server.ts';
import type { Logger } from '../runtime/logger.ts';
import { authenticate, type VerifyKey } from './auth/authenticate.ts';
import type { BoundRoute } from './declaration/api-route.ts';
import { notFound, sendError, wrongMethod } from './errors.ts';
import { warnOfProxies } from './http/client-address.ts';
import { limitBody, rejectDotSegments } from './http/refusals.ts';
import { beginResponse } from './http/response-headers.ts';
import { mountBuilderSockets } from './levels/builder-sockets.ts';
import { sendRpcError } from './levels/json-rpc.ts';
import type { TakersDeps } from './levels/taker-calls.ts';
import { mountTakerSockets } from './levels/taker-session.ts';
import { createLimits, type RateLimitDeps } from './limits/rate-limit.ts';
import { createErrorHandler, type Outages } from './observability/error-handler.ts';
import { createHttpMetrics } from './observability/http-metrics.ts';
import { asyncApiDocument } from './reference/asyncapi-document.ts';
import { openApiDocument } from './reference/openapi-document.ts';
import { mountReference } from './reference/reference.ts';
import { ADAPTERS_PREFIX, PUBLIC_PREFIX, RPC_PREFIX } from './request.ts';
import { AnswerCache } from './serving/answer-cache.ts';
import { createAnswerFront } from './serving/answer-front.ts';
import { mountRoutes } from './serving/mount-routes.ts';
import { mountWebSocket, type WebSocketDeps } from './stream/web-socket.ts';

export type AppDeps = Outages & {
  readonly verifyKey: VerifyKey;
  readonly rateLimit: RateLimitDeps;
  readonly metrics: Registry;
  readonly logger: Logger;
  /** The WebSockets of the chains' streams and of takers. */
  readonly webSockets?: Omit<WebSocketDeps & TakersDeps, 'verifyKey' | 'trustedProxies' | 'logger'>;
  /** Adds what is not an endpoint of the contract, such as the operator's pages. It counts in no limit. */
  readonly pages?: (app: Hono) => void;
};

/** Writes an error in the form of the endpoint. */
const sendInForm: typeof sendError = (c, error) =>
  c.req.method === 'POST' && c.req.path.startsWith(RPC_PREFIX) ? sendRpcError(c, error) : sendError(c, error);

/** Creates the Hono app: middleware of all requests, in the order that errors are reported, then the endpoints. */
export function createApp(routes: readonly BoundRoute[], deps: AppDeps): Hono & { readonly front: Front } {
  const { verifyKey, rateLimit, metrics, logger, webSockets, pages } = deps;
  const { trustedProxies } = rateLimit;
  const app = new Hono();
  const answers = new AnswerCache();
  app.onError(createErrorHandler(deps, logger, sendInForm));
  app.notFound((c) => sendError(c, notFound()));
  const { observe, middleware } = createHttpMetrics(metrics);
  app.use(middleware);
  app.use(beginResponse);
  app.use(warnOfProxies(trustedProxies, logger));
  app.use(rejectDotSegments);
  app.use(limitBody);
  app.use(methodNotAllowed({ app, onMethodNotAllowed: (c, methods) => sendError(c, wrongMethod(methods)) }));
  for (const prefix of [PUBLIC_PREFIX, RPC_PREFIX, ADAPTERS_PREFIX])
    app.use(`${prefix}*`, authenticate(verifyKey, trustedProxies));
  const { limitOf, countEarly } = createLimits(rateLimit);
  mountRoutes(app, routes, limitOf, answers);
  if (webSockets) {
    const sockets = { ...webSockets, verifyKey, trustedProxies, logger };
    mountWebSocket(app, limitOf, sockets);
    mountTakerSockets(app, sockets);
    mountBuilderSockets(app, limitOf, sockets);
  }
  pages?.(app);
  mountReference(app, {
    openapi: () => openApiDocument(routes.map(({ route }) => route)),
    asyncapi: asyncApiDocument,
  });
  const front = createAnswerFront({ answers, verifyKey, trustedProxies, count: countEarly, observe });
  return Object.assign(app, { front });
}
