import type { Hono } from 'hono';
import { requireKey } from '../auth/authenticate.ts';
import { compressed } from '../http/ready-body.ts';
import type { LimitOf } from '../limits/rate-limit.ts';
import { type BoundRoute, routingPath } from './api-route.ts';

/**
 * Mounts endpoints, each behind what it declares: a missing key is reported before a used-up quota. Mounted after the key
 * check of all endpoints.
 */
export function mountRoutes(app: Hono, routes: readonly BoundRoute[], limitOf: LimitOf): void {
  for (const { route, handler } of routes) {
    const before = [
      ...(route.compress ? [compressed] : []),
      ...(route.key === 'required' ? [requireKey] : []),
      limitOf(route.limit),
    ];
    const path = routingPath(route);
    // By path, so that other methods count too: a path has one endpoint.
    app.use(path, ...before);
    app.on(route.method.toUpperCase(), path, handler);
  }
}
