import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { bearerToken } from './bearer-token.ts';

const BASIC = /^Basic +([A-Za-z0-9+/=]+)$/i;

/**
 * Lets a request pass that carries the operator's key: as a bearer token, or as the password of Basic authentication, for
 * which browsers ask by themselves; any user name will do. Everything else gets 401.
 */
export function requireOperatorKey(operatorKey: string): MiddlewareHandler {
  const expected = digest(operatorKey);
  return async (c, next) => {
    const presented = presentedKey(c.req.header('Authorization') ?? '');
    // Digests are of one length, so that the comparison takes the same time whatever was presented.
    if (presented === null || !timingSafeEqual(digest(presented), expected)) {
      c.header('WWW-Authenticate', 'Basic realm="operator", charset="UTF-8"');
      return c.json({ error: 'The operator key is missing or wrong' }, 401);
    }
    return next();
  };
}

function presentedKey(header: string): string | null {
  const bearer = bearerToken(header);
  if (bearer !== null) return bearer;
  const basic = BASIC.exec(header)?.[1];
  if (basic === undefined) return null;
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(basic, 'base64').toString('utf8')) ?? [];
  return password ?? null;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
