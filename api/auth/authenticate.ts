import type { Context, MiddlewareHandler } from 'hono';
import { bearerToken } from '../../runtime/bearer-token.ts';
import { invalidApiKey } from '../errors.ts';
import { triesAddress } from '../http/client-address.ts';

/** What is known of a valid key: enough to count its requests, nothing that reveals it. */
export type KeyIdentity = {
  readonly keyId: string;
  /** Visible part of the holder's first key. All keys that were rotated from that key share it. */
  readonly holder: string;
  /** Whether its quote updates may become live quotes of this service. Absent: they may not. */
  readonly publishesQuotes?: boolean;
};

/**
 * Looks a presented Trading API key up.
 *
 * @param client gives the address of the client, null when it is not known; called only when it matters
 * @returns null for an unknown, revoked or placeholder key
 * @throws ApiError 429 when the client tries key after key, 503 when the keys cannot be read
 */
export type VerifyKey = (key: string, client: () => string | null) => Promise<KeyIdentity | null>;

export type AuthVariables = { readonly key: KeyIdentity | null };

declare module 'hono' {
  interface ContextVariableMap extends AuthVariables {}
}

/**
 * Checks the `Authorization` header before anything else. Public endpoints need no header, but every endpoint rejects a
 * header without a valid key.
 *
 * @param trustedProxies see {@link triesAddress}
 * @param keyHeader a header that may hold the key alone instead
 */
export function authenticate(verify: VerifyKey, trustedProxies: number, keyHeader?: string): MiddlewareHandler {
  const identify = async (c: Context, header: string): Promise<KeyIdentity> => {
    const key = bearerToken(header);
    const identity = key === null ? null : await verify(key, () => triesAddress(c, trustedProxies));
    if (!identity) throw invalidApiKey();
    return identity;
  };
  return async (c, next) => {
    const bare = keyHeader && c.req.header(keyHeader);
    const header = c.req.header('Authorization') ?? (bare && `Bearer ${bare}`);
    c.set('key', header === undefined ? null : await identify(c, header));
    await next();
  };
}

/** For endpoints that need a key; mounted after {@link authenticate}. */
export const requireKey: MiddlewareHandler = async (c, next) => {
  requiredKey(c);
  await next();
};

/** The key of a request to an endpoint that needs one. @throws ApiError 401 */
export function requiredKey(c: Context): KeyIdentity {
  const key = c.get('key');
  if (!key) throw invalidApiKey();
  return key;
}
