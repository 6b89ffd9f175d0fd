import { backoffMs, wait, withDeadline } from '../deadline.ts';
import { type AllPools, allPools } from './all-pools.ts';
import type { Operations } from './calls.ts';
import { ApiClientError, ConnectionError, DeadlineError, ResponseError, responseError } from './errors.ts';
import { createPoolTradingDataClient, type PoolTradingDataClient } from './http-client.ts';
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
   * Walks a listing page by page and yields each pool once. Pools that move to an earlier page meanwhile are found, too: a
   * listing of several pages is walked again until that shows no new pool.
   *
   * @param request as of `listPools` with `chainId`, otherwise as of `listPoolsAcrossChains`; `count` and `offset` are set
   */
  readonly allPools: AllPools;
}

const DEADLINE_MS = 30_000;
const MIN_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 5_000;

type Values = Readonly<Record<string, unknown>>;

/**
 * A client of the API with a call for each operation.
 *
 * A call retries only after statuses of which the contract says so, after `Retry-After` or a growing, random pause, until
 * its deadline. It throws an {@link ApiClientError}, or the reason of its signal.
 *
 * @param url origin of the service, such as `http://localhost:3000`
 * @example
 * const client = createRestClient('http://localhost:3000');
 * const { depth } = await client.getBidAsk({ chainId: 31337, poolAddress: '0x…' });
 */
export function createRestClient(url: string, options: RestClientOptions = {}): RestClient {
  const { apiKey, fetch, deadlineMs = DEADLINE_MS } = options;
  const http = createPoolTradingDataClient(url, { apiKey, ...(fetch && { fetch }) });
  const calls = Object.keys(OPERATIONS).map((id) => [
    id,
    (request: Values = {}, call: CallOptions = {}) =>
      callOperation(http, id as OperationId, request, { ...call, deadlineMs: call.deadlineMs ?? deadlineMs }),
  ]);
  const operations = Object.fromEntries(calls) as Operations;
  return { ...operations, allPools: (request, call) => allPools(operations, request, call) };
}

async function callOperation(
  http: PoolTradingDataClient,
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
        return await send(http, id, request, limited);
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

async function send(http: PoolTradingDataClient, id: OperationId, request: Values, signal: AbortSignal) {
  const { method, path } = OPERATIONS[id];
  const { path: pathValues, rest } = splitValues(path, request);
  const params = { path: pathValues, ...(method === 'get' && { query: rest }) };
  try {
    const untyped = http.request as unknown as (
      method: 'get' | 'post',
      path: string,
      init: object,
    ) => Promise<{ readonly data?: unknown; readonly error?: unknown; readonly response: Response }>;
    const init = { params, signal, ...(method === 'post' && { body: rest }) };
    const { data, error, response } = await untyped(method, path, init);
    if (response.ok) return data;
    throw responseError(response, error);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof ApiClientError) throw error;
    throw new ConnectionError(`${id} got no response that can be read`, { cause: error });
  }
}

/** Values of the path, and those of the query or body. */
function splitValues(path: string, request: Values) {
  const rest: Record<string, unknown> = { ...request };
  const values = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const key = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const value = rest[key];
    delete rest[key];
    return [name, value];
  });
  // The one parameter of a query with another spelling.
  if ('contractVersion' in rest) {
    rest.contract_version = rest.contractVersion;
    delete rest.contractVersion;
  }
  return { path: Object.fromEntries(values) as Values, rest };
}
