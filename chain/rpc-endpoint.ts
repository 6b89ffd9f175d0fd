import { http, TimeoutError } from 'viem';
import { CircuitBreaker } from './circuit-breaker.ts';
import { RpcFailure } from './rpc-failure.ts';

type HttpTransport = ReturnType<ReturnType<typeof http>>;
type RpcRequest = Parameters<HttpTransport['request']>[0];

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

/** One RPC URL: a viem HTTP transport with a time limit on the whole answer and a circuit breaker. */
export class RpcEndpoint {
  /** Host only: the rest of a URL may hold a key. */
  readonly label: string;
  readonly breaker: CircuitBreaker;
  readonly #options: RpcEndpointOptions;
  readonly #transport: HttpTransport;

  constructor(url: string, options: RpcEndpointOptions) {
    this.label = new URL(url).host;
    this.breaker = options.breaker ?? new CircuitBreaker();
    this.#options = options;
    this.#transport = http(url, { raw: true, timeout: options.timeoutMs })({ retryCount: 0 });
  }

  /**
   * Sends one request. The caller judges the answer and reports to the breaker.
   *
   * @returns the `result` of the answer, unchecked
   * @throws RpcFailure
   */
  async request(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    // The transport's own limit ends with the headers; a body that trickles in needs this one.
    const limit = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      const answer = (await this.#transport.request({ method, params } as RpcRequest, {
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      })) as RawAnswer;
      const result = this.#resultOf(method, answer);
      this.#options.count(method, 'ok');
      return result;
    } catch (error) {
      const failure = signal?.aborted
        ? new RpcFailure('aborted', `${method} was aborted before ${this.label} answered`)
        : this.#failureOf(method, error, limit.aborted);
      this.#options.count(method, failure.code);
      throw failure;
    }
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
    if (timedOut || error instanceof TimeoutError) {
      return new RpcFailure('timeout', `${this.label} did not answer ${method} in ${this.#options.timeoutMs} ms`);
    }
    return new RpcFailure('unreachable', `${this.label} gave no answer to ${method}`);
  }
}

function describeRpcError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'an error without code';
  const { code, message } = error as { code?: unknown; message?: unknown };
  return `${String(code)} ${typeof message === 'string' ? message.slice(0, 200) : ''}`.trim();
}
