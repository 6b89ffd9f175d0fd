import type { MiddlewareHandler } from 'hono';
import { auth as basicAuth } from 'hono/utils/basic-auth';
import { timingSafeEqual } from 'hono/utils/buffer';
import { bearerToken } from './bearer-token.ts';

/**
 * Lets a request pass that carries the operator's key: as a bearer token, or as the password of Basic authentication, for
 * which browsers ask by themselves; any user name will do. Everything else gets 401.
 */
export function requireOperatorKey(operatorKey: string): MiddlewareHandler {
  return async (c, next) => {
    const presented = bearerToken(c.req.header('Authorization') ?? '') ?? basicAuth(c.req.raw)?.password;
    if (presented === undefined || !(await timingSafeEqual(presented, operatorKey))) {
      c.header('WWW-Authenticate', 'Basic realm="operator", charset="UTF-8"');
      return c.json({ error: 'The operator key is missing or wrong' }, 401);
    }
    return next();
  };
}
