import { type Address, type Hex, numberToHex, zeroHash } from 'viem';
import { z } from 'zod';
import { HexAddress, HexBytes32 } from '../config/scalars.ts';
import { blockOverrides, type StateOverrides, type TargetBlock } from './pending-state.ts';

/** A transaction as it would be executed. Without `to`, `data` is creation code. */
export interface TracedCall {
  readonly from: Address;
  readonly to?: Address;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
  /** Of a transaction: it cannot be executed where its sender has a higher one. */
  readonly nonce?: number;
}

/** Where a call is traced. */
export interface TraceContext {
  /** Hash of the block whose state it runs on. */
  readonly hash: Hex | 'latest';
  /** Number and time of the block that it sees. */
  readonly target: TargetBlock;
  readonly signal?: AbortSignal | undefined;
}

const Accounts = z.record(
  HexAddress,
  z.object({ nonce: z.number().optional().catch(undefined), storage: z.record(HexBytes32, HexBytes32).default({}) }),
);
/**
 * What `prestateTracer` answers with `diffMode`: storage that changed alone. `post` leaves out slots that became zero.
 */
const Diff = z.object({ pre: Accounts, post: Accounts });

/** The parameters of a `debug_traceCall` that finds writes. */
export function traceParams({ from, to, data, value, gas }: TracedCall, { hash, target }: TraceContext): unknown[] {
  const call = { from, ...(to && { to }), data, value: numberToHex(value), gas: numberToHex(gas) };
  const tracer = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } };
  const block = hash === 'latest' ? hash : { blockHash: hash };
  return [call, block, { ...tracer, blockOverrides: blockOverrides(target) }];
}

/** Reads the storage that a traced call would write: none if its sender has used the nonce already. @throws ZodError */
export function readWrites(result: unknown, { from, nonce }: TracedCall): StateOverrides {
  const { pre, post } = Diff.parse(result);
  const nextNonce = pre[from.toLowerCase() as Address]?.nonce ?? 0;
  if (nonce !== undefined && nonce < nextNonce) return new Map();
  const accounts = Object.entries(post).map(([address, { storage }]) => {
    const cleared = Object.keys(pre[address as Address]?.storage ?? {}).map((slot) => [slot, zeroHash] as const);
    return [address, new Map([...cleared, ...Object.entries(storage)])] as const;
  });
  return new Map(accounts.filter(([, slots]) => slots.size > 0)) as StateOverrides;
}
