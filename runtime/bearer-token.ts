const BEARER = /^Bearer +(\S+)$/i;

/** The token of an `Authorization` header of that scheme; null when it is of another, or malformed. */
export const bearerToken = (authorization: string): string | null => BEARER.exec(authorization)?.[1] ?? null;
