import type { Hono, MiddlewareHandler } from 'hono';
import { requireKey } from '../auth/authenticate.ts';
import { compressed } from '../http/ready-body.ts';
import type { LimitOf } from '../limits/rate-limit.ts';
import { type ApiRoute, type BoundRoute, routingPath } from './api-route.ts';

/** Mounts endpoints, each behind what it declares. Mounted after the key check of all endpoints. */
export function mountRoutes(app: Hono, routes: readonly BoundRoute[], limitOf: LimitOf): void {
  const paths = new Set<string>();
  for (const { route } of routes) {
    const path = routingPath(route);
    // Middleware is mounted by path: a second endpoint on it would count every request twice.
    if (paths.has(path)) throw new Error(`${path} is declared twice`);
    paths.add(path);
    app.use(path, ...middlewareOf(route, limitOf));
  }
  mountHandlers(app, routes);
}

/** Mounts the handlers alone. */
export function mountHandlers(app: Hono, routes: readonly BoundRoute[]): void {
  for (const { route, handler } of routes) app.on(route.method.toUpperCase(), routingPath(route), handler);
}

/** A missing key is reported before a used-up quota. */
function middlewareOf(route: ApiRoute, limitOf: LimitOf): MiddlewareHandler[] {
  return [
    ...(route.compress ? [compressed] : []),
    ...(route.key === 'required' ? [requireKey] : []),
    limitOf(route.limit),
  ];
}
