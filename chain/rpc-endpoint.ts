import { HttpFailure, sendRequest } from '../runtime/http-request.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { RpcFailure } from './rpc-failure.ts';

/** The answer of a node, unchecked. */
type RawAnswer = { readonly error?: unknown; readonly result?: unknown } | null;

export type RpcOutcome = 'ok' | RpcFailure['code'];

/** Called for each request that was sent to a node. */
export type CountRpcCall = (method: string, outcome: RpcOutcome) => void;

export interface RpcEndpointOptions {
  readonly timeoutMs: number;
  readonly count: CountRpcCall;
  readonly breaker?: CircuitBreaker;
}

/**
 * One RPC URL: JSON-RPC with a time limit on the whole answer, and a circuit breaker. viem's transport keeps several copies
 * of each request until its answer is there, and calls at a block have a quarter of a megabyte.
 */
export class RpcEndpoint {
  /** Host only: the rest of a URL may hold a key. */
  readonly label: string;
  readonly breaker: CircuitBreaker;
  readonly #url: string;
  readonly #options: RpcEndpointOptions;
  #lastId = 0;

  constructor(url: string, options: RpcEndpointOptions) {
    this.label = new URL(url).host;
    this.breaker = options.breaker ?? new CircuitBreaker();
    this.#url = url;
    this.#options = options;
  }

  /**
   * Sends one request. The caller judges the answer and reports to the breaker.
   *
   * @returns the `result` of the answer, unchecked
   * @throws RpcFailure
   */
  async request(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    try {
      const result = this.#resultOf(method, await this.#send(method, params, signal));
      this.#options.count(method, 'ok');
      return result;
    } catch (error) {
      const failure = error instanceof RpcFailure ? error : this.#failureOf(method, error);
      this.#options.count(method, failure.code);
      throw failure;
    }
  }

  /** @throws whatever went wrong: an HTTP error too, unless its body is an answer */
  async #send(method: string, params: readonly unknown[], signal: AbortSignal | undefined): Promise<RawAnswer> {
    this.#lastId += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.#lastId, method, params });
    const { status, text } = await sendRequest(this.#url, { body, timeoutMs: this.#options.timeoutMs, signal });
    const answer = JSON.parse(text) as RawAnswer;
    if (status >= 300 && !isRpcError(answer?.error)) throw new Error(`HTTP status ${status}`);
    return answer;
  }

  #resultOf(method: string, answer: RawAnswer): unknown {
    if (answer?.error !== undefined && answer.error !== null) {
      throw new RpcFailure('refused', `${this.label} refused ${method}: ${describeRpcError(answer.error)}`);
    }
    if (answer?.result === undefined) {
      throw new RpcFailure('malformed', `${this.label} answered ${method} without result`);
    }
    return answer.result;
  }

  #failureOf(method: string, error: unknown): RpcFailure {
    const code = error instanceof HttpFailure ? error.code : 'unreachable';
    const messages = {
      aborted: `${method} was aborted before ${this.label} answered`,
      timeout: `${this.label} did not answer ${method} in ${this.#options.timeoutMs} ms`,
      unreachable: `${this.label} gave no answer to ${method}`,
    };
    return new RpcFailure(code, messages[code]);
  }
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
