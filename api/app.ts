import { OpenAPIHono } from '@hono/zod-openapi';
import type { Registry } from 'prom-client';
import type { Logger } from '../runtime/logger.ts';
import { authenticate, requireKey, type VerifyKey } from './auth/authenticate.ts';
import { ApiError, internalError, methodNotAllowed, notFound, sendError } from './errors.ts';
import { allowedMethods } from './http/allowed-methods.ts';
import { noteArrival } from './http/arrival.ts';
import { mountManners } from './http/manners.ts';
import { mountLimits, type RateLimitDeps } from './limits/rate-limit.ts';
import { httpMetrics } from './observability/http-metrics.ts';
import { registerReference } from './reference/reference.ts';

/** A resource: adds its routes to the app, its dependencies already bound. Each folder of `api/` gives one. */
export type Resource = (app: OpenAPIHono) => void;

export type AppDeps = {
  readonly verifyKey: VerifyKey;
  readonly rateLimit: RateLimitDeps;
  readonly metrics: Registry;
  readonly logger: Logger;
};

/** The Hono app: what every request gets, in the order that errors are reported, then the given resources. */
export function createApp(resources: readonly Resource[], deps: AppDeps): OpenAPIHono {
  const app = new OpenAPIHono();
  handleErrors(app, deps.logger);
  app.use(noteArrival);
  app.use(httpMetrics(deps.metrics));
  mountManners(app);
  app.use('/public/*', authenticate(deps.verifyKey, deps.rateLimit.trustedProxies));
  app.use('/public/v1/evm/:chain_id/pamm-quote', requireKey);
  mountLimits(app, deps.rateLimit);
  for (const register of resources) register(app);
  registerReference(app);
  return app;
}

/** Anything thrown that is no {@link ApiError} is a defect: it is logged whole and answered with a bare 500. */
function handleErrors(app: OpenAPIHono, logger: Logger): void {
  app.onError((error, c) => {
    const known = error instanceof ApiError ? error : internalError(error);
    if (known.status >= 500) {
      logger.error({ err: known.cause ?? known, path: c.req.path, requestId: c.get('requestId') }, known.message);
    }
    return sendError(c, known);
  });
  app.notFound((c) => {
    const methods = allowedMethods(app, c.req.path);
    return sendError(c, methods.length > 0 ? methodNotAllowed(methods) : notFound());
  });
}
