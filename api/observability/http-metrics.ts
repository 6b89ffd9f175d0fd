import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { Histogram, type Registry } from 'prom-client';
import type { Fault } from '../fault.ts';

const BUCKETS_SECS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 20];

declare module 'hono' {
  interface ContextVariableMap {
    /** What is at fault for a response 5xx. */
    fault: Fault;
  }
}

/**
 * @param startedAt a time of `performance.now()`
 * @param fault absent below status 500
 */
export type ObserveRequest = (method: string, route: string, status: number, startedAt: number, fault?: Fault) => void;

/** Times every request by route pattern. Paths hold addresses, and would add metric series without end. */
export function createHttpMetrics(registry: Registry): {
  readonly observe: ObserveRequest;
  readonly middleware: MiddlewareHandler;
} {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the headers of a request to its response, by route, status and, of a 5xx, what is at fault',
    labelNames: ['method', 'route', 'status', 'fault'],
    buckets: BUCKETS_SECS,
    registers: [registry],
  });
  const observe: ObserveRequest = (method, route, status, startedAt, fault) =>
    duration.observe({ method, route, status, ...(fault && { fault }) }, (performance.now() - startedAt) / 1000);
  const middleware: MiddlewareHandler = async (c, next) => {
    const startedAt = performance.now();
    await next();
    const { status } = c.res;
    const pattern = routePath(c, -1);
    observe(
      c.req.method,
      status === 404 && pattern === '/*' ? 'unmatched' : pattern,
      status,
      startedAt,
      c.get('fault'),
    );
  };
  return { observe, middleware };
}
