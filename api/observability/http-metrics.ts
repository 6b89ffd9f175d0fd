import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { Histogram, type Registry } from 'prom-client';

const BUCKETS_SECS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 20];

/** Times every request by route pattern, never by path: a path holds addresses and would grow the series without end. */
export function httpMetrics(registry: Registry): MiddlewareHandler {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the headers of a request to its response, by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS_SECS,
    registers: [registry],
  });
  return async (c, next) => {
    const startedAt = performance.now();
    await next();
    const { status } = c.res;
    const pattern = routePath(c, -1);
    const route = status === 404 && pattern === '/*' ? 'unmatched' : pattern;
    duration.observe({ method: c.req.method, route, status }, (performance.now() - startedAt) / 1000);
  };
}
