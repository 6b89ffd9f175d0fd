import { z } from 'zod';
import type { Clock } from '../runtime/clock.ts';
import { HttpFailure, type HttpResponse, sendRequest } from '../runtime/http-request.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { type Ability, hasAbility, isLacking, learn, type Need, type NodeAbilities } from './node-abilities.ts';
import { describeResponse, textWords } from './response-words.ts';
import { RpcFailure } from './rpc-failure.ts';

const Answer = z.object({
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).nullish(),
  result: z.unknown().optional(),
});
/** The code of the error that stands for an HTTP status of this number. */
const TOO_MANY_REQUESTS = 429;
/** The wording of public nodes, which their clients know: they then ask for less. */
const TOO_LARGE = { code: -32_000, message: 'backend response too large' };

export type RpcOutcome = 'ok' | RpcFailure['code'];

/** Called for each request that was sent to a node. */
export type CountRpcCall = (method: string, outcome: RpcOutcome) => void;

export interface RpcEndpointOptions {
  readonly timeoutMs: number;
  readonly count: CountRpcCall;
  readonly breaker?: CircuitBreaker;
  readonly now?: Clock;
  /** Whether the node of this label is asked after others. Default: never. */
  readonly isLast?: ((label: string) => boolean) | undefined;
}

/**
 * Sends JSON-RPC requests to one URL, with a time limit on the whole answer and a circuit breaker. viem's transport
 * would keep several copies of each request until its answer is there, and calls at a block take a quarter of a
 * megabyte.
 */
export class RpcEndpoint {
  /** Host only: the rest of a URL may hold a key. */
  readonly label: string;
  readonly breaker: CircuitBreaker;
  readonly #url: string;
  readonly #options: RpcEndpointOptions;
  readonly #now: Clock;
  #abilities: NodeAbilities = {};
  #lastId = 0;

  constructor(url: string, options: RpcEndpointOptions) {
    this.label = new URL(url).host;
    this.#now = options.now ?? (() => performance.now());
    this.breaker = options.breaker ?? new CircuitBreaker(this.#now);
    this.#url = url;
    this.#options = options;
  }

  /** Whether the node is asked after others. */
  get isLast(): boolean {
    return this.#options.isLast?.(this.label) === true;
  }

  /** Whether the node is known to lack what is needed. */
  isLacking(need: Need): boolean {
    return isLacking(this.#abilities, need, this.#now());
  }

  /** Whether the node has an ability; null while a probe is to show it, undefined where nothing is known. */
  has(ability: Ability): boolean | null | undefined {
    return hasAbility(this.#abilities, ability, this.#now());
  }

  /** Notes what the node showed. @param has null when a probe begins */
  learn(need: Need, has: boolean | null): void {
    this.#abilities = learn(this.#abilities, need, has, this.#now());
  }

  /**
   * Sends one request. The caller judges the answer and reports to the breaker.
   *
   * @returns the `result` of the answer, unchecked
   * @throws RpcFailure
   */
  async request(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    try {
      const result = await this.#send(method, params, signal);
      this.#options.count(method, 'ok');
      return result;
    } catch (error) {
      const failure = error instanceof RpcFailure ? error : this.#failureOf(method, error);
      this.#options.count(method, failure.code);
      throw failure;
    }
  }

  /** @throws RpcFailure a response without a result; HttpFailure no response */
  async #send(method: string, params: readonly unknown[], signal: AbortSignal | undefined): Promise<unknown> {
    this.#lastId += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.#lastId, method, params });
    const { timeoutMs } = this.#options;
    const response = await sendRequest(this.#url, { body, timeoutMs, signal, isRepeatable: true });
    // Even with a JSON-RPC error as its body, this status does not refuse what was asked: another node may answer.
    if (response.status === TOO_MANY_REQUESTS) {
      const answer = { code: TOO_MANY_REQUESTS, message: 'too many requests' };
      throw new RpcFailure('unreachable', this.#noAnswer(method), answer, 'it limits requests (status 429)');
    }
    return this.#resultOf(method, response);
  }

  /** @throws RpcFailure a response without a result */
  #resultOf(method: string, response: HttpResponse): unknown {
    const answer = parseAnswer(response.text);
    if (answer?.error) {
      const words = `${answer.error.code} ${textWords(answer.error.message, this.#url)}`;
      const reason = `status ${response.status}: ${words}`;
      throw new RpcFailure('refused', `${this.label} refused ${method}: ${words}`, answer.error, reason);
    }
    if (answer?.result !== undefined && response.status < 300) return answer.result;
    const reason = describeResponse(response, this.#url);
    const code = answer && response.status < 300 ? 'malformed' : 'unreachable';
    throw new RpcFailure(code, `${this.#noAnswer(method)}: ${reason}`, undefined, reason);
  }

  #failureOf(method: string, error: unknown): RpcFailure {
    const code = error instanceof HttpFailure ? error.code : 'unreachable';
    if (code === 'too_large') {
      return new RpcFailure('unreachable', this.#noAnswer(method), TOO_LARGE, 'its response is too large');
    }
    const messages = {
      aborted: `${method} was aborted before ${this.label} answered`,
      timeout: `${this.label} did not answer ${method} in ${this.#options.timeoutMs} ms`,
      unreachable: this.#noAnswer(method),
    };
    return new RpcFailure(code, messages[code]);
  }

  #noAnswer(method: string): string {
    return `${this.label} gave no answer to ${method}`;
  }
}

/** Null for a text that is no answer in JSON-RPC. */
function parseAnswer(text: string): z.infer<typeof Answer> | null {
  try {
    return Answer.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
