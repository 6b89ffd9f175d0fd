import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Agent, request } from 'undici';
import { CircuitBreaker } from './circuit-breaker.ts';
import { RpcFailure } from './rpc-failure.ts';

/** The answer of a node, unchecked. */
type RawAnswer = { readonly error?: unknown; readonly result?: unknown };

export type RpcOutcome = 'ok' | RpcFailure['code'];

/** Called for each request that was sent to a node. */
export type CountRpcCall = (method: string, outcome: RpcOutcome) => void;

export interface RpcEndpointOptions {
  readonly timeoutMs: number;
  readonly count: CountRpcCall;
  readonly breaker?: CircuitBreaker;
}

/** Bytes of an answer, as it comes and unpacked; the largest that are asked for have some hundred kilobytes. */
const MOST_ANSWER_BYTES = 10 * 1024 * 1024;
const gunzipped = promisify(gunzip);

/**
 * One RPC URL: JSON-RPC by undici, with a time limit on the whole answer and a circuit breaker. viem's transport keeps
 * several copies of each request until its answer is there, and calls at a block have a quarter of a megabyte.
 */
export class RpcEndpoint {
  /** Host only: the rest of a URL may hold a key. */
  readonly label: string;
  readonly breaker: CircuitBreaker;
  readonly #url: string;
  readonly #options: RpcEndpointOptions;
  readonly #agent: Agent;
  #lastId = 0;

  constructor(url: string, options: RpcEndpointOptions) {
    this.label = new URL(url).host;
    this.breaker = options.breaker ?? new CircuitBreaker();
    this.#url = url;
    this.#options = options;
    // The limit of `request` is the one that counts.
    this.#agent = new Agent({ maxResponseSize: MOST_ANSWER_BYTES, headersTimeout: 0, bodyTimeout: 0 });
  }

  /**
   * Sends one request. The caller judges the answer and reports to the breaker.
   *
   * @returns the `result` of the answer, unchecked
   * @throws RpcFailure
   */
  async request(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    // Not `AbortSignal.timeout`, which would wait on beyond the answer.
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.#options.timeoutMs);
    try {
      const answer = await this.#send(method, params, signal ? AbortSignal.any([signal, limit.signal]) : limit.signal);
      const result = this.#resultOf(method, answer);
      this.#options.count(method, 'ok');
      return result;
    } catch (error) {
      const failure = signal?.aborted
        ? new RpcFailure('aborted', `${method} was aborted before ${this.label} answered`)
        : this.#failureOf(method, error, limit.signal.aborted);
      this.#options.count(method, failure.code);
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }

  /** @throws whatever went wrong: an HTTP error too, unless its body is an answer */
  async #send(method: string, params: readonly unknown[], signal: AbortSignal): Promise<RawAnswer> {
    this.#lastId += 1;
    const { statusCode, headers, body } = await request(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' },
      // As bytes, which are no work for the collection of garbage.
      body: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: this.#lastId, method, params })),
      dispatcher: this.#agent,
      signal,
    });
    const isPacked = headers['content-encoding'] === 'gzip';
    const answer = JSON.parse(isPacked ? await unpacked(await body.bytes()) : await body.text()) as RawAnswer;
    if (statusCode >= 300 && !isRpcError(answer?.error)) throw new Error(`HTTP status ${statusCode}`);
    return answer;
  }

  #resultOf(method: string, answer: RawAnswer): unknown {
    if (answer.error !== undefined && answer.error !== null) {
      throw new RpcFailure('refused', `${this.label} refused ${method}: ${describeRpcError(answer.error)}`);
    }
    if (answer.result === undefined) throw new RpcFailure('garbage', `${this.label} answered ${method} without result`);
    return answer.result;
  }

  #failureOf(method: string, error: unknown, timedOut: boolean): RpcFailure {
    if (error instanceof RpcFailure) return error;
    if (timedOut) {
      return new RpcFailure('timeout', `${this.label} did not answer ${method} in ${this.#options.timeoutMs} ms`);
    }
    return new RpcFailure('unreachable', `${this.label} gave no answer to ${method}`);
  }
}

async function unpacked(bytes: Uint8Array): Promise<string> {
  return (await gunzipped(bytes, { maxOutputLength: MOST_ANSWER_BYTES })).toString();
}

/** Whether a node says so itself, and no proxy before it. */
function isRpcError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === 'number' && typeof message === 'string';
}

function describeRpcError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'an error without code';
  const { code, message } = error as { code?: unknown; message?: unknown };
  return `${String(code)} ${typeof message === 'string' ? message.slice(0, 200) : ''}`.trim();
}
