import type { Address, Hex } from 'viem';
import { CALL_GAS_CAP } from '../protocol/bounded-calls/bounded-calls.ts';
import type { ExtraNeed } from './needs.ts';
import { blockOverrides, stateDiffs } from './pending-state.ts';
import type { CallContext } from './read-context.ts';
import { RpcFailure } from './rpc-failure.ts';

export interface EthCall extends CallContext {
  readonly from?: Address;
  /** Absent where `data` is creation code: the result is then what its constructor returns. */
  readonly to?: Address;
  readonly data: Hex;
}

/** The parameters of an `eth_call`. */
export function callParams({ from, to, data, gas = CALL_GAS_CAP, block, code }: EthCall): unknown[] {
  const params: unknown[] = [{ from, to, data, gas: `0x${gas.toString(16)}` }, blockParam(block)];
  const pending = typeof block === 'string' || block.pending?.part ? undefined : block.pending;
  const diffs = pending ? stateDiffs(pending.overrides) : {};
  if (!code && !pending) return params;
  const withCode = [...(code ?? [])].map(([address, it]) => [address, { ...diffs[address], code: it }]);
  params.push({ ...diffs, ...Object.fromEntries(withCode) });
  if (pending) params.push(blockOverrides(pending));
  return params;
}

/** What the call needs of nodes besides overrides. */
export const extraNeed = ({ needs, ...call }: EthCall): ExtraNeed | undefined =>
  needs && call.code?.size ? { ability: needs, without: callParams({ ...call, code: undefined }) } : undefined;

/** @throws RpcFailure `exhausted` when the budget of a scheduled read has no call left */
export function reserveCall({ reserve }: Pick<CallContext, 'reserve'>): void {
  if (reserve?.() !== false) return;
  throw new RpcFailure('exhausted', 'the read budget is exhausted');
}

/** Names a block in the parameters of a call. */
export function blockParam(block: CallContext['block']) {
  if (typeof block === 'string') return block;
  return block.pending?.part ? 'pending' : { blockHash: block.hash };
}
