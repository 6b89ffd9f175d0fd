import { type Hex, sliceHex } from 'viem';
import {
  type BoundedAnswer,
  type BoundedCall,
  CALLER,
  decodeBoundedCalls,
  encodeBoundedCalls,
} from '../protocol/bounded-calls/bounded-calls.ts';
import { type GroupAnswer, runBoundedCalls } from '../protocol/bounded-calls/run-bounded-calls.ts';
import type { ChainRpc } from './chain-rpc.ts';
import { CANARY_CALL, CLOCK_CALL, checkClock, isCanary, pendingOf, withCanary, withClock } from './override-checks.ts';
import type { CallContext } from './read-context.ts';
import { checkChain, isRefusal } from './rpc-failure.ts';

/** The nodes of a chain, and its id. Every answer names its chain, so that an answer from another chain is rejected. */
export interface ChainTarget {
  readonly rpc: ChainRpc;
  readonly chainId: number;
}

/**
 * Runs calls to untrusted contracts, isolated from each other: see `runBoundedCalls`. Where the node does not put the
 * context's code in place, they run with the code as it is.
 *
 * @returns the answers, and whether the node put the context's code in place
 * @throws RpcFailure when an `eth_call` failed on every node
 */
export async function boundedCalls(
  target: ChainTarget,
  { code, ...plain }: CallContext,
  groups: readonly (readonly BoundedCall[])[],
): Promise<{ readonly isApplied: boolean; readonly answers: (GroupAnswer | null)[] }> {
  const runPlain = () => runBoundedCalls(groups, (calls) => boundedCallsOnce(target, plain, calls));
  if (!code?.size) return { isApplied: true, answers: await runPlain() };
  const context = { ...plain, code: withCanary(code) };
  let isApplied = true;
  const send = async (calls: readonly BoundedCall[]): Promise<BoundedAnswer> => {
    const { results, ...read } = await boundedCallsOnce(target, context, [CANARY_CALL, ...calls]);
    if (!isCanary(results[0])) isApplied = false;
    return { ...read, results: results.slice(1) };
  };
  try {
    const answers = await runBoundedCalls(groups, send);
    return { isApplied, answers };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { isApplied: false, answers: await runPlain() };
  }
}

/**
 * Runs isolated calls in one `eth_call`, in order, as far as its gas goes. At a block that is being built, a first call
 * checks that it runs there. Nothing checks that the node puts the context's code in place.
 *
 * @throws RpcFailure when it failed on every node
 */
export function boundedCallsOnce(
  target: ChainTarget,
  context: CallContext,
  calls: readonly BoundedCall[],
): Promise<BoundedAnswer> {
  const pending = pendingOf(context);
  const checks = pending ? [CLOCK_CALL] : [];
  const sent = [...checks, ...calls];
  return runProgram(target, withClock(context), encodeBoundedCalls(sent), (answer) => {
    const { results, ...read } = decodeBoundedCalls(answer, sent.length);
    if (pending) checkClock(pending, results[0]);
    return { ...read, results: results.slice(checks.length) };
  });
}

/**
 * Runs creation code in one `eth_call`, whose answer begins with the chain id.
 *
 * @param decode reads the answer, as in {@link ChainRpc.request}
 * @throws RpcFailure when it failed on every node
 */
export function runProgram<T>(
  { rpc, chainId }: ChainTarget,
  context: CallContext,
  data: Hex,
  decode: (answer: Hex) => T,
): Promise<T> {
  return rpc.call({ ...context, from: CALLER, data }, (answer) => {
    checkChain(chainId, BigInt(sliceHex(answer, 0, 32, { strict: true })));
    return decode(answer);
  });
}
