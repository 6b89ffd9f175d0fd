import type { MiddlewareHandler } from 'hono';

declare module 'hono' {
  interface ContextVariableMap {
    /** When the request arrived, Unix milliseconds. */
    arrivedAtMs: number;
  }
}

/** Notes when a request arrived. Mounted before everything that may take time, since deadlines count from arrival. */
export const noteArrival: MiddlewareHandler = async (c, next) => {
  c.set('arrivedAtMs', Date.now());
  await next();
};
