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

/** A request that was responded to. */
interface ObservedRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** A time of `performance.now()`. */
  readonly startedAt: number;
  /** Absent below status 500. */
  readonly fault?: Fault | undefined;
}

export type ObserveRequest = (request: ObservedRequest) => void;

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
  const observe: ObserveRequest = ({ startedAt, fault, ...labels }) =>
    duration.observe({ ...labels, ...(fault && { fault }) }, (performance.now() - startedAt) / 1000);
  const middleware: MiddlewareHandler = async (c, next) => {
    const startedAt = performance.now();
    await next();
    const { status } = c.res;
    const pattern = routePath(c, -1);
    const route = status === 404 && pattern === '/*' ? 'unmatched' : pattern;
    observe({ method: c.req.method, route, status, startedAt, fault: c.get('fault') });
  };
  return { observe, middleware };
}
