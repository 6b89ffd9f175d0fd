import { parseJson, stringifyJson } from '../../runtime/json.ts';
import { backoffMs, wait, withDeadline } from '../deadline.ts';
import { type AllPools, allPools } from './all-pools.ts';
import type { Operations } from './calls.ts';
import { ApiClientError, ConnectionError, DeadlineError, ResponseError, responseError } from './errors.ts';
import { OPERATIONS } from './operations.ts';
import type { CallOptions, OperationId } from './types.ts';

export interface RestClientOptions {
  /** Trading API key: raises limits, and is needed for quote updates. */
  readonly apiKey?: string | undefined;
  /** Time for a call with all its retries, milliseconds. Default: 30,000. */
  readonly deadlineMs?: number | undefined;
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

export interface RestClient extends Operations {
  /**
   * Walks a listing page by page and yields each pool once. It also finds pools that move to an earlier page meanwhile:
   * it walks a listing of several pages again until it has seen all pools that the listing counted, or until two walks
   * in a row show no new pool.
   *
   * @param request that of `listPools` with `chainId`, otherwise that of `listPoolsAcrossChains`; the walk sets `count`
   *   and `offset`
   */
  readonly allPools: AllPools;
}

const DEADLINE_MS = 30_000;
const MIN_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 5_000;
const NO_CONTENT = 204;

interface Service extends RestClientOptions {
  /** Its origin. */
  readonly base: string;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Creates a client with a call for each operation of the API.
 *
 * A call retries until its deadline, but only after statuses for which the contract says so. Before a retry it waits
 * for `Retry-After` and a growing, random pause. It throws an {@link ApiClientError}, or the reason of its signal.
 *
 * @param url origin of the service, such as `http://localhost:3000`
 * @example const client = createRestClient('http://localhost:3000'); const { depth } = await client.getBidAsk({
 *   chainId: 31337, poolAddress: '0x…' });
 */
export function createRestClient(url: string, options: RestClientOptions = {}): RestClient {
  const { deadlineMs = DEADLINE_MS } = options;
  const service = { ...options, base: url.replace(/\/+$/, '') };
  const calls = Object.keys(OPERATIONS).map((id) => [
    id,
    (request: Values = {}, call: CallOptions = {}) =>
      callOperation(service, id as OperationId, request, { ...call, deadlineMs: call.deadlineMs ?? deadlineMs }),
  ]);
  const operations = Object.fromEntries(calls) as Operations;
  return { ...operations, allPools: (request, call) => allPools(operations, request, call) };
}

async function callOperation(
  service: Service,
  id: OperationId,
  request: Values,
  { signal, deadlineMs = DEADLINE_MS }: CallOptions,
): Promise<unknown> {
  const endsAt = Date.now() + deadlineMs;
  let last: unknown;
  const timeout = () => new DeadlineError(`${id} took longer than ${deadlineMs} ms`, { cause: last });
  return withDeadline(signal, deadlineMs, timeout, async (limited) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await send(service, id, request, limited);
      } catch (error) {
        if (!mayRetry(id, error)) throw error;
        last = error;
        const pauseMs = (error.retryAfterMs ?? 0) + backoffMs(attempt, MIN_BACKOFF_MS, MAX_BACKOFF_MS);
        if (Date.now() + pauseMs > endsAt) throw error;
        await wait(pauseMs, limited);
      }
    }
  });
}

function mayRetry(id: OperationId, error: unknown): error is ResponseError {
  const statuses: readonly number[] = OPERATIONS[id].retry;
  return error instanceof ResponseError && statuses.includes(error.status);
}

async function send(
  { base, apiKey, fetch: custom }: Service,
  id: OperationId,
  request: Values,
  signal: AbortSignal,
): Promise<unknown> {
  const { method, path } = OPERATIONS[id];
  const { filled, rest } = fillPath(path, request);
  const isPost = method === 'post';
  const headers = {
    ...(isPost && { 'Content-Type': 'application/json' }),
    ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
  };
  try {
    const whole = new Request(base + filled + (isPost ? '' : queryOf(rest)), {
      method: isPost ? 'POST' : 'GET',
      signal,
      headers,
      ...(isPost && { body: stringifyJson(Array.isArray(request) ? request : rest) }),
    });
    const response = await (custom ?? fetch)(whole);
    const text = await response.text();
    if (response.ok) return response.status === NO_CONTENT ? undefined : parseJson(text);
    throw responseError(response, errorBody(response, text));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof ApiClientError) throw error;
    throw new ConnectionError(`${id} got no response that can be read`, { cause: error });
  }
}

/**
 * Parses the body of an error. It is JSON, or a text when the service could not parse the query. A page is of a proxy,
 * and no message.
 */
function errorBody({ headers }: Response, text: string): unknown {
  if (headers.get('Content-Type')?.includes('html')) return null;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Fills values into the path, and gives the rest, which go into the query or body. */
function fillPath(path: string, request: Values) {
  const rest: Record<string, unknown> = { ...request };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const key = name.replace(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
    const value = rest[key];
    delete rest[key];
    return encodeURIComponent(String(value));
  });
  // Only this parameter has another spelling in the query.
  if ('contractVersion' in rest) {
    rest.contract_version = rest.contractVersion;
    delete rest.contractVersion;
  }
  return { filled, rest };
}

function queryOf(values: Values): string {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value == null ? [] : [[name, String(value)] as [string, string]],
  );
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}
