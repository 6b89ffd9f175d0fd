import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { bearerToken } from '../../runtime/bearer-token.ts';
import { addHandshakeHeader } from '../../runtime/web-sockets.ts';
import { ApiError, invalidApiKey } from '../errors.ts';
import { setEarly } from '../http/block-headers.ts';
import { triesAddress } from '../http/client-address.ts';
import { KEY_IGNORED_HEADER } from '../http/response-headers.ts';
import { isTakersPath } from '../request.ts';

const BARE_KEY = /^\S+$/;
const NO_KEY = /^(?:Bearer)?\s*$/i;

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
 * Checks a presented key before anything else, the `Authorization` header. Public endpoints need none, but reject a
 * header without a valid key. On paths of takers such a key is as none, and so is one that cannot be looked up: a
 * header of the response says so. There a key may stand without `Bearer`, or in `X-Api-Key`.
 *
 * @param trustedProxies see {@link triesAddress}
 */
export function authenticate(verify: VerifyKey, trustedProxies: number): MiddlewareHandler {
  const identify = (c: Context, key: string | null) =>
    key === null ? null : verify(key, () => triesAddress(c, trustedProxies));
  const identifyTaker = async (c: Context, header: string): Promise<KeyIdentity | null> => {
    try {
      const identity = await identify(c, bearerToken(header) ?? BARE_KEY.exec(header)?.[0] ?? null);
      if (!identity) setKeyIgnored(c, 'unknown');
      return identity;
    } catch (error) {
      if (!(error instanceof ApiError && error.retryable)) throw error;
      setKeyIgnored(c, 'unchecked');
      return null;
    }
  };
  return async (c, next) => {
    const isTaker = isTakersPath(c.req.path);
    const authorization = c.req.header('Authorization');
    const other = isTaker && NO_KEY.test(authorization ?? '') ? c.req.header('X-Api-Key') : undefined;
    const header = other ?? authorization;
    if (header === undefined) c.set('key', null);
    else if (isTaker) c.set('key', await identifyTaker(c, header));
    else {
      const identity = await identify(c, bearerToken(header));
      if (!identity) throw invalidApiKey();
      c.set('key', identity);
    }
    await next();
  };
}

function setKeyIgnored(c: Context, reason: 'unknown' | 'unchecked'): void {
  setEarly(c, KEY_IGNORED_HEADER, reason);
  const { incoming, outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
  if (incoming && !outgoing) addHandshakeHeader(incoming, KEY_IGNORED_HEADER, reason);
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
