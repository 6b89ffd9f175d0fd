import { packGroups } from '../pack-groups.ts';
import {
  answerBytes,
  type BoundedAnswer,
  type BoundedCall,
  type BoundedResult,
  CODE_HASH_GAS,
  callBytes,
} from './bounded-calls.ts';

/** The results of a group of calls, all at one block. */
export type GroupAnswer = Omit<BoundedAnswer, 'results'> & { readonly results: readonly BoundedResult[] };

/** Sends one `eth_call` with these calls. */
export type SendCalls = (calls: readonly BoundedCall[]) => Promise<BoundedAnswer>;

/** Nodes cap an `eth_call` at 50 million gas by default: the rest is for the answer and the last call's limit. */
export const GAS_PER_CALL = 40_000_000;
/** The protocol bounds creation code to 49,152 bytes, and what it returns to 24,576. */
const BYTES_PER_CALL = 44_000;
const ANSWER_BYTES_PER_CALL = 22_000;
/** Gas of a call besides its own, and its limit with the two 64ths that frames hold back and do not spend. */
export const OVERHEAD_GAS = 10_000;
const HELD_BACK = 25 / 24;

/**
 * Runs groups of calls, such as the calls to one pool, in few `eth_call`s and at most two rounds:
 *
 * 1. Each `eth_call` takes as many groups as would fit if every contract were honest.
 * 2. Groups with a call that was not begun, since others burned the gas, run again. Each `eth_call` takes as many
 *    groups as fit even if every call burns its limit: a contract costs no more than its limit.
 *
 * @returns the answer of each group, in order; null where the node gives an `eth_call` less gas than the group may take
 * @throws what `send` throws
 */
export async function runBoundedCalls(
  groups: readonly (readonly BoundedCall[])[],
  send: SendCalls,
): Promise<(GroupAnswer | null)[]> {
  const likely = await runRound(groups, ({ likelyGas }) => likelyGas, send);
  const open = groups.filter((_, index) => likely[index] === null);
  const certain = await runRound(open, ({ gasLimit }) => gasLimit * HELD_BACK, send);
  return likely.map((answer) => answer ?? certain.shift() ?? null);
}

async function runRound(
  groups: readonly (readonly BoundedCall[])[],
  gasOf: (call: BoundedCall) => number,
  send: SendCalls,
): Promise<(GroupAnswer | null)[]> {
  const answers = await Promise.all(
    packBoundedCalls(groups, gasOf).map(async (chunk) => groupAnswers(chunk, await send(chunk.flat()))),
  );
  return answers.flat();
}

/** Packs groups into chunks, one `eth_call` each. A single group may exceed the limits of a chunk. */
export function packBoundedCalls(
  groups: readonly (readonly BoundedCall[])[],
  gasOf: (call: BoundedCall) => number,
): (readonly BoundedCall[])[][] {
  return packGroups(groups, [
    { of: (call) => gasOf(call) + (call.gasLimit > 0 ? OVERHEAD_GAS : CODE_HASH_GAS), most: GAS_PER_CALL },
    { of: callBytes, most: BYTES_PER_CALL },
    { of: answerBytes, most: ANSWER_BYTES_PER_CALL },
  ]);
}

/** Cuts an answer into groups. One with a call that was not begun is null: that call would see another block later. */
export function groupAnswers(
  chunk: readonly (readonly BoundedCall[])[],
  { results, ...block }: BoundedAnswer,
): (GroupAnswer | null)[] {
  let begin = 0;
  return chunk.map((group) => {
    const own = results.slice(begin, begin + group.length);
    begin += group.length;
    const begun = own.filter((result) => result !== null);
    return begun.length === group.length ? { ...block, results: begun } : null;
  });
}
