import type { NodeAnswer } from './answer-request.ts';
import { inOrder, logsOf } from './compare-logs.ts';

/**
 * Gives the logs of an answer once each, in the order of the chain: some nodes give them in another, at which Ponder
 * would end. What is in order stays as it is, as does what are no logs.
 */
export function orderLogs(answer: NodeAnswer): NodeAnswer {
  if (!('result' in answer) || !Array.isArray(answer.result) || isInOrder(answer.result)) return answer;
  const logs = logsOf(answer.result);
  return logs ? { result: inOrder(logs) } : answer;
}

/** Without a parser: all logs of the index come through here. */
function isInOrder(logs: readonly { readonly blockNumber?: unknown; readonly logIndex?: unknown }[]): boolean {
  let [lastBlock, lastIndex] = [-1, -1];
  for (const log of logs) {
    const [block, index] = [Number(log?.blockNumber), Number(log?.logIndex)];
    if (block < lastBlock || (block === lastBlock && index <= lastIndex)) return false;
    [lastBlock, lastIndex] = [block, index];
  }
  return true;
}
