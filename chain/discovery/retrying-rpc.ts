import { pause } from '../../runtime/pause.ts';
import { ChainRpc } from '../chain-rpc.ts';
import { RpcEndpoint } from '../rpc-endpoint.ts';
import { RpcFailure } from '../rpc-failure.ts';

const TRIES = 4;
const RETRY_MS = 1_000;
const CALL_TIMEOUT_MS = 10_000;

/** Nodes for calls that commands and starts make once. One that gives no answer, as when it limits requests, is asked again. */
export const openRetryingRpc = (rpcUrls: readonly string[]): ChainRpc =>
  new ChainRpc(rpcUrls.map((url) => new RetryingEndpoint(url, { timeoutMs: CALL_TIMEOUT_MS, count: () => undefined })));

class RetryingEndpoint extends RpcEndpoint {
  override async request(...request: Parameters<RpcEndpoint['request']>): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await super.request(...request);
      } catch (error) {
        if (attempt === TRIES || !(error instanceof RpcFailure && error.code === 'unreachable')) throw error;
        await pause(RETRY_MS);
      }
    }
  }
}
