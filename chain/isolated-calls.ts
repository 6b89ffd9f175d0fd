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
import { overrideChecks } from './override-checks.ts';
import type { CallContext } from './read-context.ts';
import type { RpcEndpoint } from './rpc-endpoint.ts';
import { checkChain, lacksOverrides, MissingAbility } from './rpc-failure.ts';

/** The nodes of a chain, and its id. Every answer names its chain, so that an answer from another chain is rejected. */
export interface ChainTarget {
  readonly rpc: ChainRpc;
  readonly chainId: number;
}

/**
 * Runs calls to untrusted contracts, isolated from each other: see `runBoundedCalls`. Where no node puts the context's
 * code in place, they run with the code as it is.
 *
 * @returns the answers, and whether nodes put the context's code in place
 * @throws RpcFailure when an `eth_call` failed on every node
 */
export async function boundedCalls(
  target: ChainTarget,
  { code, ...plain }: CallContext,
  groups: readonly (readonly BoundedCall[])[],
): Promise<{ readonly isApplied: boolean; readonly answers: (GroupAnswer | null)[] }> {
  const runPlain = () => runBoundedCalls(groups, (calls) => runCalls(target, plain, calls));
  if (!code?.size) return { isApplied: true, answers: await runPlain() };
  try {
    const answers = await runBoundedCalls(groups, (calls) => runCalls(target, { ...plain, code }, calls));
    return { isApplied: true, answers };
  } catch (error) {
    if (!lacksOverrides(error)) throw error;
    return { isApplied: false, answers: await runPlain() };
  }
}

/**
 * Runs isolated calls in one `eth_call`, in order, as far as its gas goes. At a block that is being built, a first call
 * checks that it runs there. Where every node ignores the context's code, they run with the code as it is.
 *
 * @throws RpcFailure when it failed on every node
 */
export async function boundedCallsOnce(
  target: ChainTarget,
  context: CallContext,
  calls: readonly BoundedCall[],
): Promise<BoundedAnswer> {
  try {
    return await runCalls(target, context, calls);
  } catch (error) {
    const { code, ...plain } = context;
    if (!code || !(error instanceof MissingAbility)) throw error;
    return runCalls(target, plain, calls);
  }
}

/** @throws RpcFailure when it failed on every node; MissingAbility when none that works applies overrides */
function runCalls(target: ChainTarget, context: CallContext, calls: readonly BoundedCall[]): Promise<BoundedAnswer> {
  const checks = overrideChecks(context, 'programOverrides');
  const sent = [...checks.calls, ...calls];
  return runProgram(target, checks.context, encodeBoundedCalls(sent), (answer, node) => {
    const { results, ...read } = decodeBoundedCalls(answer, sent.length);
    checks.check(results.slice(0, checks.calls.length), node.label);
    return { ...read, results: results.slice(checks.calls.length) };
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
  decode: (answer: Hex, node: RpcEndpoint) => T,
): Promise<T> {
  return rpc.call({ ...context, from: CALLER, data }, (answer, node) => {
    checkChain(chainId, BigInt(sliceHex(answer, 0, 32, { strict: true })));
    return decode(answer, node);
  });
}
