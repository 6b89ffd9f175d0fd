import { type Address, type Hex, numberToHex } from 'viem';
import type { CallResult } from '../protocol/bounded-calls/bounded-calls.ts';
import type { PendingState } from './pending-state.ts';
import type { CallContext, CodeOverrides } from './read-context.ts';
import { RpcFailure } from './rpc-failure.ts';

/** Code that returns 42, put at an address without code: an answer of 42 proves that the node applied the overrides. */
const CANARY: Address = '0xca0a21ca0a21ca0a21ca0a21ca0a21ca0a21ca0a';
const CANARY_CODE: Hex = '0x602a5f5260205ff3';
const CANARY_ANSWER = numberToHex(42, { size: 32 });
/** The call of the canary, as a call to an untrusted contract and as one to a known contract. */
export const CANARY_CALL = {
  target: CANARY,
  data: '0x',
  gas: 5_000,
  likelyGas: 5_000,
  gasLimit: 5_000,
  keptBytes: 32,
} as const;

export const withCanary = (code: CodeOverrides): CodeOverrides => new Map([...code, [CANARY, CANARY_CODE]]);

/** Whether the node that answered had put code at addresses. */
export const isCanary = (result: CallResult | null | undefined): boolean => result?.data === CANARY_ANSWER;

/** Code that returns time and number of the block, put at an address without code for calls at a block being built. */
const CLOCK: Address = '0xc10cc10cc10cc10cc10cc10cc10cc10cc10cc10c';
const CLOCK_CODE: Hex = '0x434260401b175f5260205ff3';
export const CLOCK_CALL = { ...CANARY_CALL, target: CLOCK } as const;

/** What is on top of the block that calls see; undefined at a committed block. */
export const pendingOf = ({ block }: CallContext): PendingState | undefined =>
  block === 'latest' ? undefined : block.pending;

/** The context with the code of {@link CLOCK_CALL}, at a block that is being built. */
export const withClock = <C extends CallContext>(context: C): C =>
  pendingOf(context) ? { ...context, code: new Map([...(context.code ?? []), [CLOCK, CLOCK_CODE]]) } : context;

/** @throws RpcFailure `ignored` when the call did not run in the block that is being built */
export function checkClock({ timestamp, blockNumber }: PendingState, clock: CallResult | null | undefined): void {
  if (clock?.data === numberToHex((timestamp << 64n) | blockNumber, { size: 32 })) return;
  throw new RpcFailure('ignored', 'a node ignores the overrides of state or block');
}
