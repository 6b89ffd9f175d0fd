import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Address } from 'viem';
import { AppError } from '../config/app-error.ts';
import { PoolsUnknownError } from '../quoting/pools/pool-directory.ts';
import type { SnapshotError } from '../quoting/snapshot-error.ts';
import { type Fault, faultOf, isOutage } from './fault.ts';

/** JSON body of an error: `error` for people, `code` where the contract names one for programs. */
export type ErrorBody = { readonly error: string; readonly code?: string };

/** Statuses after which a client may retry: too many requests, or something that the request needs is unreachable. */
const RETRYABLE: readonly number[] = [429, 503];
/** `Retry-After` during an outage of nodes or stores, in seconds: soon enough for a short one. */
export const OUTAGE_RETRY_SECS = '2';

/**
 * A response other than 200, thrown anywhere below a handler. A string body is sent as plain text, an object as JSON.
 */
export class ApiError extends AppError {
  readonly status: ContentfulStatusCode;
  readonly body: ErrorBody | string;
  /** The body's code, otherwise the status: `http_503`. */
  readonly code: string;
  readonly retryable: boolean;
  /** Null below status 500. */
  readonly fault: Fault | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ContentfulStatusCode,
    body: ErrorBody | string,
    options: { cause?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(typeof body === 'string' ? body : body.error, { cause: options.cause });
    this.status = status;
    this.body = body;
    this.code = (typeof body === 'string' ? undefined : body.code) ?? `http_${status}`;
    this.retryable = RETRYABLE.includes(status);
    this.fault = status < 500 ? null : faultOf(status, options.cause);
    this.headers = { ...(isOutage(this.fault) && { 'Retry-After': OUTAGE_RETRY_SECS }), ...options.headers };
  }
}

export const badRequest = (error: string): ApiError => new ApiError(400, { error });

/** A query string that cannot be parsed: the one kind of 400 whose body is plain text. */
export const badQuery = (reason: string): ApiError =>
  new ApiError(400, `Failed to deserialize query string: ${reason}`);

export const invalidApiKey = (): ApiError => new ApiError(401, { error: 'Invalid API key' });

/** For a request of all pools without a key, where named pools need none. */
export const keyOrPoolsMissing = (): ApiError => new ApiError(401, { error: 'name pools, or send an API key' });

export const notFound = (): ApiError => new ApiError(404, { error: 'Not found' });

/** @param allowed methods that the path takes */
export const wrongMethod = (allowed: readonly string[]): ApiError =>
  new ApiError(405, { error: 'Method not allowed' }, { headers: { Allow: allowed.join(', ') } });

export const unknownChain = (chainId: string): ApiError => new ApiError(404, { error: `Unknown chainId: ${chainId}` });

/** Seconds to wait, as headers give them: never 0, which would invite a retry at once. */
export const waitSecsCeil = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1000));

/** @param waitMs until the client's next window */
export const tooManyRequests = (waitMs: number): ApiError =>
  new ApiError(429, { error: 'Too many requests' }, { headers: { 'Retry-After': String(waitSecsCeil(waitMs)) } });

/** Something that the request needs (database, Redis, a chain) is unreachable or too slow. The client may retry. */
export const unavailable = (cause?: unknown, headers: Readonly<Record<string, string>> = {}): ApiError =>
  new ApiError(503, { error: 'Service temporarily unavailable' }, { cause, headers });

/** For `read.catch(throwUnavailable)`: turns the error of a failed read into a 503. @throws ApiError 503, always */
export const throwUnavailable = (cause: unknown): never => {
  throw unavailable(cause);
};

export const internalError = (cause?: unknown): ApiError =>
  new ApiError(500, { error: 'Internal server error' }, { cause });

/** For a pool that is unknown, delisted, on another chain or on a disabled release. */
export const poolNotServed = (pool: Address): ApiError =>
  new ApiError(404, { error: `Pair metadata not found for ${pool}` });

/**
 * For a pool without a quote: 500 when the chain did not give it, 503 when it did not come in time.
 *
 * @param error undefined for a pool that is not served
 */
export function quoteFailure(pool: Address, error: SnapshotError | undefined): ApiError {
  if (!error) return poolNotServed(pool);
  return error.code === 'read_failed' ? internalError(error) : unavailable(error);
}

/** Turns anything thrown into a response. An unexpected error is a defect: its response is a bare 500. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof PoolsUnknownError)
    return error.retryable ? unavailable(error.cause) : internalError(error.cause);
  return internalError(error);
}

/** Writes an {@link ApiError} as its response. */
export function sendError(c: Context, { status, body, headers }: ApiError): Response {
  const isText = typeof body === 'string';
  const text = isText ? body : JSON.stringify(body);
  return c.body(text, status, {
    'Content-Type': isText ? 'text/plain; charset=UTF-8' : 'application/json',
    // A text repeats parts of the request, so a browser must not take it for a page.
    ...(isText && { 'X-Content-Type-Options': 'nosniff' }),
    // With a length, the compression leaves short responses as they are.
    'Content-Length': String(Buffer.byteLength(text)),
    ...headers,
  });
}
