import { OpenAPIHono } from '@hono/zod-openapi';
import type { Logger } from '../runtime/logger.ts';
import { authenticate, type VerifyKey } from './auth/authenticate.ts';
import { ApiError, internalError, sendError } from './errors.ts';

/** A resource: adds its routes to the app. Each folder of `api/` exports one that has its dependencies bound. */
export type Resource = (app: OpenAPIHono) => void;

/**
 * The Hono app with error handling around the given resources.
 *
 * Anything thrown that is no {@link ApiError} is a defect: it is logged whole and answered with a bare 500.
 */
export function createApp(resources: readonly Resource[], verifyKey: VerifyKey, logger: Logger): OpenAPIHono {
  const app = new OpenAPIHono();
  app.onError((error, c) => {
    const known = error instanceof ApiError ? error : internalError(error);
    if (known.status >= 500) logger.error({ err: known.cause ?? known, path: c.req.path }, known.message);
    return sendError(c, known);
  });
  app.notFound((c) => c.json({ error: 'Not found' }, 404));
  app.use('/public/*', authenticate(verifyKey));
  for (const register of resources) register(app);
  return app;
}
