import { ableNodes } from '../../chain/able-nodes.ts';
import { ChainRpc } from '../../chain/chain-rpc.ts';
import type { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { NodeAnswer, NodeQuestion } from './answer-request.ts';
import {
  type Doubted,
  inOrder,
  type LogFault,
  logsOf,
  missingIn,
  type NodeLog,
  Receipt,
  sortByFault,
} from './compare-logs.ts';
import { assertLogsAsked } from './logs-asked.ts';

export interface LogsOfTwoDeps {
  /** Counts logs that one of two nodes did not give, or should not have. */
  readonly count: (fault: LogFault, logs: number) => void;
  /** Takes note of a node that left logs out, or invented some. */
  readonly blame: (node: RpcEndpoint, logs: { readonly leftOut: number; readonly invented: number }) => void;
  readonly logger: Pick<Logger, 'warn'>;
  readonly now: Clock;
  /** 0 to 1. */
  readonly random: () => number;
}

/** Asks nodes until one gives a result. @param noteNode gets that node */
type AskNodes = (noteNode: (node: RpcEndpoint) => void) => Promise<NodeAnswer>;

/** For so long all answers of a node are compared: from its first one, and from each that was wrong. */
export const WATCHED_MS = 3_600_000;
/** Share of the answers of other nodes that are compared. */
export const COMPARED_SHARE = 0.05;
/** Most comparisons at a time at one node, beyond which answers are not compared: it may have a limit of requests. */
const MAX_AT_A_TIME = 2;
/** An answer waits for the second node for this long. */
const SECOND_MS = 2_000;
/** Most transactions whose receipts are asked for after one answer, and how many at a time. */
const MAX_RECEIPTS = 20;
const RECEIPTS_AT_A_TIME = 4;

/**
 * Compares logs that two nodes give: a node may leave logs out with status 200. Where they differ, receipts decide. The
 * answer is that of the nodes as they are asked for anything, with what it lacks and without what was invented. A node
 * that was wrong is not asked for a while. What the second node fails to do costs nothing but its part
 * of the comparison.
 */
export class LogsOfTwo {
  readonly #deps: LogsOfTwoDeps;
  /** Until when all answers of a node are compared. */
  readonly #watchedUntil = new Map<RpcEndpoint, number>();
  readonly #comparing = new Map<RpcEndpoint, number>();

  constructor(deps: LogsOfTwoDeps) {
    this.#deps = deps;
  }

  /** Answers `eth_getLogs`. @param ask asks the nodes, in their order */
  async answer(rpc: ChainRpc, question: NodeQuestion, ask: AskNodes): Promise<NodeAnswer> {
    const nodes = ableNodes(rpc.endpoints, question).endpoints.filter(({ breaker }) => !breaker.isOpen);
    const [first, second] = nodes;
    const comparing = (second && this.#comparing.get(second)) ?? 0;
    if (!first || !second || comparing >= MAX_AT_A_TIME || !this.#isDue(first)) return ask(() => undefined);
    this.#comparing.set(second, comparing + 1);
    try {
      return await this.#compared(second, question, ask);
    } finally {
      this.#comparing.set(second, (this.#comparing.get(second) ?? 1) - 1);
    }
  }

  async #compared(second: RpcEndpoint, question: NodeQuestion, ask: AskNodes): Promise<NodeAnswer> {
    let first = second;
    const asked = ask((node) => {
      first = node;
    });
    const [answer, others] = await Promise.all([asked, requestLogs(second, question)]);
    const logs = 'result' in answer ? logsOf(answer.result) : undefined;
    // The first node may have failed, so that the second one gave both.
    if (!logs || !others || first === second) return answer;
    const [lacking, surplus] = [missingIn(others, logs), missingIn(logs, others)];
    if (lacking.length + surplus.length === 0) return { result: inOrder(logs) };
    const [found, doubted] = [await judge(lacking, second, first), await judge(surplus, first, second)];
    for (const fault of ['disputed', 'unclear'] as const) this.#count(fault, [...found[fault], ...doubted[fault]]);
    await this.#blame(first, question, { leftOut: found['left out'], invented: doubted.invented });
    await this.#blame(second, question, { leftOut: doubted['left out'], invented: found.invented });
    return { result: inOrder([...missingIn(logs, doubted.invented), ...found['left out'], ...found.disputed]) };
  }

  #count(fault: LogFault, logs: readonly NodeLog[]): void {
    if (logs.length > 0) this.#deps.count(fault, logs.length);
  }

  #isDue(node: RpcEndpoint): boolean {
    const { now, random } = this.#deps;
    const watchedUntil = this.#watchedUntil.get(node) ?? now() + WATCHED_MS;
    this.#watchedUntil.set(node, watchedUntil);
    return now() < watchedUntil || random() < COMPARED_SHARE;
  }

  async #blame(
    node: RpcEndpoint,
    question: NodeQuestion,
    { leftOut, invented }: Readonly<Record<'leftOut' | 'invented', readonly NodeLog[]>>,
  ): Promise<void> {
    if (leftOut.length + invented.length === 0) return;
    const { logger, now, blame } = this.#deps;
    // It may have got the block only now.
    const again = leftOut.length > 0 ? await requestLogs(node, question) : [];
    if (invented.length === 0 && again && missingIn(leftOut, again).length === 0) return;
    this.#count('left out', leftOut);
    this.#count('invented', invented);
    node.learn({ ability: 'wholeLogs' }, false);
    this.#watchedUntil.set(node, now() + WATCHED_MS);
    const [{ blockNumber } = { blockNumber: '' }] = [...leftOut, ...invented];
    const counts = { leftOut: leftOut.length, invented: invented.length };
    blame(node, counts);
    const found = { node: node.label, ...counts, block: Number(blockNumber) };
    logger.warn(found, 'a node does not give the logs that the chain has: another one is asked first');
  }
}

/** Undefined where the node fails, or gives logs of other blocks: neither says anything of another node. */
async function requestLogs(node: RpcEndpoint, question: NodeQuestion): Promise<NodeLog[] | undefined> {
  const { method, params } = question;
  const signal = AbortSignal.timeout(SECOND_MS);
  const read = (result: unknown) => {
    assertLogsAsked(question, result);
    return logsOf(result);
  };
  return new ChainRpc([node]).requestOptional(method, params, read, signal).catch(() => undefined);
}

/**
 * Sorts logs that one node gave and another did not. Of many transactions, the first ones stand for all if they agree.
 */
async function judge(logs: readonly NodeLog[], giver: RpcEndpoint, other: RpcEndpoint): Promise<Doubted> {
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))].slice(0, MAX_RECEIPTS);
  const atOther = await readReceipts(other, hashes);
  const doubted = sortByFault(logs, atOther, atOther);
  if (doubted.invented.length === 0) return doubted;
  // Only if its own receipts lack them too: receipts of one node alone are no proof.
  return sortByFault(logs, atOther, await readReceipts(giver, hashes));
}

type Receipts = ReadonlyMap<string, Receipt>;

async function readReceipts(node: RpcEndpoint, hashes: readonly string[]): Promise<Receipts> {
  const rpc = new ChainRpc([node]);
  const receipts = new Map<string, Receipt>();
  for (let begin = 0; begin < hashes.length; begin += RECEIPTS_AT_A_TIME) {
    const read = async (hash: string) => {
      const signal = AbortSignal.timeout(SECOND_MS);
      const request = rpc.requestOptional('eth_getTransactionReceipt', [hash], (found) => Receipt.parse(found), signal);
      receipts.set(hash, await request.catch(() => null));
    };
    await Promise.all(hashes.slice(begin, begin + RECEIPTS_AT_A_TIME).map(read));
  }
  return receipts;
}
