import { packGroups } from '../pack-groups.ts';
import {
  answerBytes,
  type BoundedAnswer,
  type BoundedCall,
  type BoundedResult,
  CODE_HASH_GAS,
  callBytes,
} from './bounded-calls.ts';

/** What a group of calls gave, all of it at one block. */
export type GroupAnswer = Omit<BoundedAnswer, 'results'> & { readonly results: readonly BoundedResult[] };

/** Sends one `eth_call` with these calls. */
export type SendCalls = (calls: readonly BoundedCall[]) => Promise<BoundedAnswer>;

/** Nodes cap an `eth_call` at 50 million gas by default; the rest is for the answer and the last call's limit. */
export const GAS_PER_CALL = 40_000_000;
/** The protocol bounds creation code to 49,152 bytes, and what it returns to 24,576. */
const BYTES_PER_CALL = 44_000;
const ANSWER_BYTES_PER_CALL = 22_000;
/** What a call costs beside its own gas, and the two 64ths of it that must be there and are not spent. */
export const OVERHEAD_GAS = 10_000;
const HELD_BACK = 25 / 24;

/**
 * Runs groups of calls, such as those of one pool, in few `eth_call`s: as many at once as would do if every contract were
 * honest. Those that were not begun because others burned the gas go once more, as many at once as can all burn what they
 * may. So any set takes two rounds at most, and a contract costs no more than its limit.
 *
 * @returns what each group gave, in order; null where the node gives an `eth_call` less gas than a group may take
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

/**
 * Chunks of groups for one `eth_call` each.
 *
 * @param mostGas of the calls of a chunk; a single group may take more
 */
export function packBoundedCalls(
  groups: readonly (readonly BoundedCall[])[],
  gasOf: (call: BoundedCall) => number,
  mostGas = GAS_PER_CALL,
): (readonly BoundedCall[])[][] {
  return packGroups(groups, [
    { of: (call) => gasOf(call) + (call.gasLimit > 0 ? OVERHEAD_GAS : CODE_HASH_GAS), most: mostGas },
    { of: callBytes, most: BYTES_PER_CALL },
    { of: answerBytes, most: ANSWER_BYTES_PER_CALL },
  ]);
}

/** A group of which a part was not begun has no answer: half of it would be of another block than the other half. */
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
