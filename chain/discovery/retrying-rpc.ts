import { bulkhead } from 'cockatiel';
import { pause } from '../../runtime/pause.ts';
import { ChainRpc } from '../chain-rpc.ts';
import { RpcEndpoint } from '../rpc-endpoint.ts';
import { RpcFailure } from '../rpc-failure.ts';

const TRIES = 4;
const RETRY_MS = 1_000;
const CALL_TIMEOUT_MS = 10_000;
/** Requests of a command or start that a node has at a time; more wait for their turn. Free plans bear so many. */
const AT_ONCE = 5;

/**
 * Nodes for calls that commands and starts make once. One that gives no answer, as when it limits requests, is asked
 * again.
 *
 * @param signal when aborted, all requests fail as `aborted`
 */
export const openRetryingRpc = (rpcUrls: readonly string[], signal?: AbortSignal): ChainRpc =>
  new ChainRpc(rpcUrls.map((url) => new RetryingEndpoint(url, signal)));

class RetryingEndpoint extends RpcEndpoint {
  readonly #turns = bulkhead(AT_ONCE, Number.POSITIVE_INFINITY);
  readonly #signal: AbortSignal | undefined;

  constructor(url: string, signal: AbortSignal | undefined) {
    super(url, { timeoutMs: CALL_TIMEOUT_MS, count: () => undefined });
    this.#signal = signal;
  }

  override request(method: string, params: readonly unknown[], signal = this.#signal): Promise<unknown> {
    return this.#turns.execute(() => this.#requestAgain(method, params, signal));
  }

  async #requestAgain(...request: Parameters<RpcEndpoint['request']>): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await super.request(...request);
      } catch (error) {
        if (attempt === TRIES || !(error instanceof RpcFailure && error.code === 'unreachable')) throw error;
        await pause(RETRY_MS, request[2]);
      }
    }
  }
}
