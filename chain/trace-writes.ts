import type { ChainRpc } from './chain-rpc.ts';
import type { StateOverrides } from './pending-state.ts';
import { readWrites, type TraceContext, type TracedCall, traceParams } from './trace-call.ts';

/**
 * Finds the storage that a call would write, by `debug_traceCall`. A call that reverts, or whose nonce is used, writes
 * none. Balances, nonces and code are left out, and so are accounts that destroy themselves.
 *
 * @throws RpcFailure of the last node asked; MissingAbility when every node is known to lack the method
 */
export function traceWrites(rpc: ChainRpc, call: TracedCall, context: TraceContext): Promise<StateOverrides> {
  const read = (result: unknown) => readWrites(result, call);
  return rpc.requestOptional('debug_traceCall', traceParams(call, context), read, context.signal);
}
