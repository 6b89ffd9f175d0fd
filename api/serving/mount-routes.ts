import type { HttpBindings } from '@hono/node-server';
import type { Handler, Hono } from 'hono';
import { requireKey } from '../auth/authenticate.ts';
import { type ApiRoute, type BoundRoute, routingPath } from '../declaration/api-route.ts';
import { compressed } from '../http/ready-body.ts';
import type { LimitOf } from '../limits/rate-limit.ts';
import type { AnswerCache } from './answer-cache.ts';

/**
 * Mounts endpoints, each behind the middleware that it declares. A missing key is reported before an exhausted quota.
 * They are mounted after the key check of all endpoints.
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
    // By path, so that requests with other methods count, too: a path has one endpoint.
    app.use(path, ...before);
    app.on(route.method.toUpperCase(), path, keepReusable(route, handler, answers));
  }
}

/** Keeps a response that may be sent again, as its handler says, by the request's target as the client sent it. */
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
