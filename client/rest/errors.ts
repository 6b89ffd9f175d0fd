/** Base of all errors that calls throw, except the reason of an aborted signal. */
export abstract class ApiClientError extends Error {}

/** No complete response arrived. The service may still have done what was requested. */
export class ConnectionError extends ApiClientError {
  override readonly name = 'ConnectionError';
}

/** The deadline of the call passed; `cause` is the last failure, if there was one. */
export class DeadlineError extends ApiClientError {
  override readonly name = 'DeadlineError';
}

/** What a response with an error says. */
export interface ErrorDetails {
  readonly status: number;
  /** Machine-readable reason, where the contract has one: `no_route`, `insufficient_liquidity`. */
  readonly code: string | null;
  /** Identifies the request in the logs of the service. */
  readonly requestId: string | null;
  /** How long to wait before another request, milliseconds. */
  readonly retryAfterMs: number | null;
}

/** A response with a status other than 200. */
export class ResponseError extends ApiClientError implements ErrorDetails {
  override readonly name: string = 'ResponseError';
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;

  constructor(message: string, { status, code, requestId, retryAfterMs }: ErrorDetails) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** 400, 413, 415: the request is malformed or has a value that is not allowed. */
export class BadRequestError extends ResponseError {
  override readonly name = 'BadRequestError';
}

/** 401: the key is missing or invalid. */
export class UnauthorizedError extends ResponseError {
  override readonly name = 'UnauthorizedError';
}

/** 404: the chain, pool or release is not served. */
export class NotFoundError extends ResponseError {
  override readonly name = 'NotFoundError';
}

/** 422: no route, or a field of a quote update is missing or of the wrong type. */
export class UnprocessableError extends ResponseError {
  override readonly name = 'UnprocessableError';
}

/** 429: too many requests. */
export class RateLimitError extends ResponseError {
  override readonly name = 'RateLimitError';
}

/** 500 and above: the service failed or is unavailable. */
export class ServiceError extends ResponseError {
  override readonly name = 'ServiceError';
}

const CLASSES: Readonly<Record<number, typeof ResponseError>> = {
  400: BadRequestError,
  401: UnauthorizedError,
  404: NotFoundError,
  413: BadRequestError,
  415: BadRequestError,
  422: UnprocessableError,
  429: RateLimitError,
};

/**
 * Makes the error of a response.
 *
 * @param body of the response: JSON with `error` and perhaps `code`, that of JSON-RPC with `error.message`, or a text
 */
export function responseError({ status, headers }: Response, body: unknown): ResponseError {
  const { error: given, code } = fieldsOf(body) ?? { error: body };
  const error = fieldsOf(given)?.message ?? given;
  const Class = CLASSES[status] ?? (status >= 500 ? ServiceError : ResponseError);
  return new Class(typeof error === 'string' && error ? error : `The service returned status ${status}`, {
    status,
    code: typeof code === 'string' ? code : null,
    requestId: headers.get('X-Request-Id'),
    retryAfterMs: retryAfterMs(headers),
  });
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;

/** Reads `Retry-After`: seconds, as the service writes it, or a date, as proxies may. */
function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('Retry-After');
  if (text === null) return null;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : Math.max(0, Date.parse(text) - Date.now());
  return Number.isNaN(waitMs) ? null : waitMs;
}
