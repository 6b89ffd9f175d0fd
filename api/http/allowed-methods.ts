import type { Hono } from 'hono';

/**
 * The methods that a path takes, read off the routes of the app; empty for an unknown path. GET brings HEAD. OPTIONS is not
 * named: it is a CORS preflight on every path, known or not.
 */
export function allowedMethods(app: Pick<Hono, 'routes' | 'router'>, path: string): string[] {
  const methods = new Set(app.routes.filter(isEndpoint).map(({ method }) => method));
  const taken = [...methods].filter((method) => {
    const [matches] = app.router.match(method, path);
    return matches.some(([[, route]]) => route.method === method && isEndpoint(route));
  });
  return taken.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** Middleware is mounted for all methods, or on a wildcard. */
const isEndpoint = ({ method, path }: Hono['routes'][number]): boolean => method !== 'ALL' && !path.endsWith('*');
