const BEARER = /^Bearer +(\S+)$/i;

/** The token of an `Authorization: Bearer` header; null when the header has another scheme or is malformed. */
export const bearerToken = (authorization: string): string | null => BEARER.exec(authorization)?.[1] ?? null;
