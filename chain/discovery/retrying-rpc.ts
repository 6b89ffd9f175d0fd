import { pause } from '../../runtime/pause.ts';
import { ChainRpc } from '../chain-rpc.ts';
import { RpcEndpoint } from '../rpc-endpoint.ts';
import { RpcFailure } from '../rpc-failure.ts';

const TRIES = 4;
const RETRY_MS = 1_000;
const CALL_TIMEOUT_MS = 20_000;

/** Repeats a call that no node answered: nodes that limit requests answer a second later. */
export class RetryingRpc extends ChainRpc {
  constructor(rpcUrls: readonly string[]) {
    super(rpcUrls.map((url) => new RpcEndpoint(url, { timeoutMs: CALL_TIMEOUT_MS, count: () => undefined })));
  }

  override async request<T>(method: string, params: readonly unknown[], check: (result: unknown) => T): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await super.request(method, params, check);
      } catch (error) {
        const isPassing = error instanceof RpcFailure && (error.code === 'unreachable' || error.code === 'paused');
        if (attempt === TRIES || !isPassing) throw error;
        await pause(RETRY_MS);
      }
    }
  }
}
