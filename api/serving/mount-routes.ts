import type { HttpBindings } from '@hono/node-server';
import type { Handler, Hono } from 'hono';
import { requireKey } from '../auth/authenticate.ts';
import { type ApiRoute, type BoundRoute, routingPath } from '../declaration/api-route.ts';
import { compressed } from '../http/ready-body.ts';
import type { LimitOf } from '../limits/rate-limit.ts';
import type { AnswerCache } from './answer-cache.ts';

/**
 * Mounts endpoints, each behind what it declares: a missing key is reported before a used-up quota. Mounted after the key
 * check of all endpoints.
 */
export function mountRoutes(
  app: Hono,
  routes: readonly BoundRoute[],
  limitOf: LimitOf,
  answers: Pick<AnswerCache, 'keep'>,
): void {
  for (const { route, handler } of routes) {
    const before = [
      ...(route.compress ? [compressed] : []),
      ...(route.key === 'required' ? [requireKey] : []),
      limitOf(route.limit),
    ];
    const path = routingPath(route);
    // By path, so that other methods count too: a path has one endpoint.
    app.use(path, ...before);
    app.on(route.method.toUpperCase(), path, keepReusable(route, handler, answers));
  }
}

/** Keeps what a handler says may be sent again, by the target of the request as it was sent. */
function keepReusable(route: ApiRoute, handler: Handler, answers: Pick<AnswerCache, 'keep'>): Handler {
  if (route.method !== 'get') return handler;
  return async (c, next) => {
    const response = await handler(c, next);
    const answer = c.get('reusable');
    const { incoming } = (c.env ?? {}) as Partial<HttpBindings>;
    if (answer && incoming?.url !== undefined) answers.keep(incoming.url, route, answer);
    return response;
  };
}
