import { type Address, type Hex, numberToHex, zeroHash } from 'viem';
import { z } from 'zod';
import { HexAddress, HexBytes32 } from '../config/scalars.ts';
import type { ChainRpc } from './chain-rpc.ts';
import { blockOverrides, type StateOverrides, type TargetBlock } from './pending-state.ts';
import { isRefusal, RpcFailure } from './rpc-failure.ts';

/** A transaction as it would be executed. Without `to`, `data` is creation code. */
export interface TracedCall {
  readonly from: Address;
  readonly to?: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
}

const Accounts = z.record(HexAddress, z.object({ storage: z.record(HexBytes32, HexBytes32).default({}) }));
/** What `prestateTracer` answers with `diffMode`: storage that changed alone. `post` leaves out slots that became zero. */
const Diff = z.object({ pre: Accounts, post: Accounts });

/** Creation code that stores the block's time in the first slot of its account. */
const CLOCK: TracedCall = {
  from: '0x000000000000000000000000000000000000c10c',
  data: '0x4260005500',
  value: 0n,
  gas: 200_000n,
};
/** A block and a time that no chain has. */
const CLOCK_BLOCK = { blockNumber: 2n ** 40n, timestamp: 2n ** 40n } as const;

/** Where a call is traced. */
export interface TraceContext {
  /** Hash of the block whose state it runs on. */
  readonly hash: Hex | 'latest';
  /** Number and time of the block that it sees. */
  readonly target: TargetBlock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds the storage that a call would write, by `debug_traceCall`. A call that reverts writes none. Balances, nonces and
 * code are left out, and so are accounts that destroy themselves.
 *
 * @throws RpcFailure of the last node asked: `refused` also where no node has the method
 */
export function traceWrites(rpc: ChainRpc, call: TracedCall, context: TraceContext): Promise<StateOverrides> {
  return trace(rpc, call, context, (overrides) => overrides);
}

/**
 * Whether a node finds writes, in a block of another number and time than its head.
 *
 * @throws RpcFailure when it is unknown: no node answered
 */
export async function canTraceWrites(rpc: ChainRpc, signal?: AbortSignal): Promise<boolean> {
  const time = numberToHex(CLOCK_BLOCK.timestamp, { size: 32 });
  const check = (overrides: StateOverrides) => {
    if (overrides.values().some((slots) => slots.get(zeroHash) === time)) return true;
    throw new RpcFailure('ignored', 'a node ignores the overrides of debug_traceCall');
  };
  try {
    return await trace(rpc, CLOCK, { hash: 'latest', target: CLOCK_BLOCK, signal }, check);
  } catch (error) {
    if (isRefusal(error) || (error instanceof RpcFailure && error.code === 'ignored')) return false;
    throw error;
  }
}

function trace<T>(
  rpc: ChainRpc,
  { from, to, data, value, gas }: TracedCall,
  { hash, target, signal }: TraceContext,
  check: (overrides: StateOverrides) => T,
): Promise<T> {
  const call = { from, ...(to && { to }), data, value: numberToHex(value), gas: numberToHex(gas) };
  const tracer = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } };
  const block = hash === 'latest' ? hash : { blockHash: hash };
  const params = [call, block, { ...tracer, blockOverrides: blockOverrides(target) }];
  return rpc.requestOptional('debug_traceCall', params, (result) => check(writesOf(Diff.parse(result))), signal);
}

function writesOf({ pre, post }: z.output<typeof Diff>): StateOverrides {
  const accounts = Object.entries(post).map(([address, { storage }]) => {
    const cleared = Object.keys(pre[address as Address]?.storage ?? {}).map((slot) => [slot, zeroHash] as const);
    return [address, new Map([...cleared, ...Object.entries(storage)])] as const;
  });
  return new Map(accounts.filter(([, slots]) => slots.size > 0)) as StateOverrides;
}
