import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Agent, request } from 'undici';
import { AppError } from '../config/app-error.ts';
import { nextTurn } from './next-turn.ts';
import { withTimeLimit } from './time-limit.ts';

export interface HttpRequest {
  /** A request with a body is sent by POST, any other by GET. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest wait for the whole response; a second more at most where this process stood still meanwhile. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether it may be sent once more when its connection ends without a response. Default: no. */
  readonly isRepeatable?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export type HttpFailureCode = 'timeout' | 'aborted' | 'too_large' | 'unreachable';

/** The response is missing, incomplete or too large. The error omits URL and headers, which may contain keys. */
export class HttpFailure extends AppError {
  readonly code: HttpFailureCode;
  readonly retryable = true;

  constructor(code: HttpFailureCode, message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Most bytes of a response, both compressed and unpacked. The largest expected ones have several hundred kilobytes. */
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
// undici's own timeouts are off: the timeout of the request replaces them.
const agent = new Agent({ maxResponseSize: MAX_RESPONSE_BYTES, headersTimeout: 0, bodyTimeout: 0 });
const gunzipped = promisify(gunzip);
/** How undici and the system name the end of a connection. */
const ENDED = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/**
 * Sends one HTTP request and reads the whole response, whatever its status. Does not follow redirects. The body is
 * passed as bytes, of which undici keeps one copy: requests of a quarter of a megabyte are common.
 *
 * @throws HttpFailure
 */
export function sendRequest(url: string, asked: HttpRequest): Promise<HttpResponse> {
  return withTimeLimit(asked.timeoutMs, (limit) => sendWithin(limit, url, asked));
}

async function sendWithin(
  limit: AbortSignal,
  url: string,
  { body, headers, timeoutMs, signal, isRepeatable = false }: HttpRequest,
): Promise<HttpResponse> {
  try {
    const send = () =>
      request(url, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip', ...headers },
        body: body === undefined ? null : Buffer.from(body),
        dispatcher: agent,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
    const response = await send().catch(async (error: unknown) => {
      if (!isRepeatable || !hasEnded(error)) throw error;
      // Servers close idle connections: a process that stood still learns of them all in one turn.
      await nextTurn();
      return send();
    });
    const isPacked = response.headers['content-encoding'] === 'gzip';
    const text = isPacked ? await unpacked(await response.body.bytes()) : await response.body.text();
    return { status: response.statusCode, headers: response.headers, text };
  } catch (error) {
    if (signal?.aborted) throw new HttpFailure('aborted', 'the request was aborted', error);
    if (limit.aborted) throw new HttpFailure('timeout', `no response in ${timeoutMs} ms`, error);
    if (isTooLarge(error)) throw new HttpFailure('too_large', 'the response is too large', error);
    throw new HttpFailure('unreachable', 'no response', error);
  }
}

/** Whether the connection of a request ended before its response. */
const hasEnded = (error: unknown): boolean => ENDED.includes(String((error as { code?: unknown }).code));

/** Whether a status means that the server serves no request of this client now: wrong key, too many, failure. */
export const refusesAll = (status: number): boolean => [401, 403, 429].includes(status) || status >= 500;

/** Reads a `Retry-After` header, in seconds or as a date. Returns undefined when it is missing or malformed. */
export function retryAfterMs(headers: HttpResponse['headers'], nowMs: number = Date.now()): number | undefined {
  const header = String(headers['retry-after'] ?? '');
  if (header.trim() === '') return undefined;
  const seconds = Number(header);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(wait) && wait >= 0 ? Math.ceil(wait) : undefined;
}

const isTooLarge = (error: unknown) =>
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'ERR_BUFFER_TOO_LARGE'].includes(String((error as { code?: unknown }).code));

// undici's `interceptors.decompress` is experimental, and warns on stderr at each start.
async function unpacked(bytes: Uint8Array): Promise<string> {
  return (await gunzipped(bytes, { maxOutputLength: MAX_RESPONSE_BYTES })).toString();
}
