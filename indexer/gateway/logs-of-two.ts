import { z } from 'zod';
import { ableNodes } from '../../chain/able-nodes.ts';
import { ChainRpc } from '../../chain/chain-rpc.ts';
import type { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { blockOfLogs, type NodeAnswer, type NodeQuestion } from './answer-request.ts';
import { inOrder, type LogFault, logsOf, missingIn, type NodeLog, nameSame } from './compare-logs.ts';
import { judgeLogs } from './judge-logs.ts';
import { LogPlaces } from './log-places.ts';
import { countMisplaced } from './logs-asked.ts';

/** What became of an answer that was to be compared; `unanswered`: one of both nodes gave no logs in time. */
export type Comparison = 'compared' | 'skipped' | 'unanswered';

export interface LogsOfTwoDeps {
  /** Counts logs that a node did not give, or should not have. */
  readonly count: (fault: LogFault, logs: number) => void;
  readonly countComparison: (result: Comparison) => void;
  /** Takes note of a node that left logs out, or invented some. */
  readonly blame: (node: RpcEndpoint, logs: { readonly leftOut: number; readonly invented: number }) => void;
  readonly logger: Pick<Logger, 'warn'>;
  readonly now: Clock;
  /** 0 to 1. */
  readonly random: () => number;
}

/** Asks nodes until `take` rejects no result. */
type AskNodes = (question: NodeQuestion, take: (result: unknown, node: RpcEndpoint) => void) => Promise<NodeAnswer>;

const BlockNumber = z.object({ number: z.string() });
/** For so long all answers of a node are to be compared: from its first one, and from each that was wrong. */
export const WATCHED_MS = 3_600_000;
/** Share of the answers of other nodes that are compared. */
export const COMPARED_SHARE = 0.05;
/** Most comparisons at a time at one node, beyond which answers are not compared: it may have a limit of requests. */
const MAX_AT_A_TIME = 2;
/** An answer waits for the second node for this long. */
const SECOND_MS = 2_000;

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
  readonly #places = new LogPlaces();

  constructor(deps: LogsOfTwoDeps) {
    this.#deps = deps;
  }

  /** Answers `eth_getLogs`. @param ask asks the nodes, in their order */
  async answer(rpc: ChainRpc, asked: NodeQuestion, ask: AskNodes): Promise<NodeAnswer> {
    const question = { ...asked, blockNumber: asked.blockNumber ?? this.#places.numberOf(blockOfLogs(asked) ?? '') };
    const nodes = ableNodes(rpc.endpoints, question).endpoints.filter(({ breaker }) => !breaker.isOpen);
    const [first, second] = nodes;
    const comparing = (second && this.#comparing.get(second)) ?? 0;
    const isDue = first !== undefined && second !== undefined && this.#isDue(first);
    if (!isDue || comparing >= MAX_AT_A_TIME) {
      if (isDue) this.#deps.countComparison('skipped');
      return ask(question, (result, node) => {
        this.#assertPlaced(question, result, node);
        this.#places.noteLogs(node, result);
      });
    }
    this.#comparing.set(second, comparing + 1);
    try {
      return await this.#compared(second, question, ask);
    } finally {
      this.#comparing.set(second, (this.#comparing.get(second) ?? 1) - 1);
    }
  }

  /** Takes note of a block that Ponder reads: logs that a node gave at its number may be of another one. */
  async takeBlock(rpc: ChainRpc, block: unknown): Promise<void> {
    const placed = this.#places.noteBlock(block);
    if (!placed) return;
    const readNumber = (found: unknown) => BlockNumber.parse(found).number;
    const request = rpc.requestOptional('eth_getBlockByHash', [placed.blockHash, false], readNumber);
    // A block that no node has was reorganised away.
    const number = await request.catch(() => placed.blockNumber);
    if (Number(number) !== Number(placed.blockNumber))
      this.#note(placed.node, { leftOut: 0, invented: placed.logs }, placed.blockNumber);
  }

  async #compared(second: RpcEndpoint, question: NodeQuestion, ask: AskNodes): Promise<NodeAnswer> {
    let first = second;
    const asked = ask(question, (result, node) => {
      this.#assertPlaced(question, result, node);
      first = node;
    });
    const [answer, other] = await Promise.all([asked, this.#request(second, question)]);
    const given = 'result' in answer ? answer.result : undefined;
    // The first node may have failed, so that the second one gave both.
    const isUnanswered = other === undefined || first === second;
    this.#deps.countComparison(isUnanswered ? 'unanswered' : 'compared');
    if (isUnanswered) {
      this.#places.noteLogs(first, given);
      return answer;
    }
    if (nameSame(given, other)) return answer;
    const [logs, others] = [logsOf(given), logsOf(other)];
    if (!logs || !others) return answer;
    const [lacking, surplus] = [missingIn(others, logs), missingIn(logs, others)];
    if (lacking.length + surplus.length === 0) return { result: inOrder(logs) };
    const [found, doubted] = [await judgeLogs(lacking, second, first), await judgeLogs(surplus, first, second)];
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
    // It may have got the block only now.
    const again = leftOut.length > 0 ? logsOf(await this.#request(node, question)) : [];
    if (invented.length === 0 && again && missingIn(leftOut, again).length === 0) return;
    const [{ blockNumber } = { blockNumber: '' }] = [...leftOut, ...invented];
    this.#note(node, { leftOut: leftOut.length, invented: invented.length }, blockNumber);
  }

  /** @throws RpcFailure `malformed` for logs of other blocks than were asked for */
  #assertPlaced(question: NodeQuestion, result: unknown, node: RpcEndpoint): void {
    const misplaced = countMisplaced(question, result);
    if (misplaced === 0) return;
    this.#note(node, { leftOut: 0, invented: misplaced }, '');
    throw new RpcFailure('malformed', 'a node gave logs of another block than was asked for');
  }

  /** Undefined where the node fails, or gives logs of other blocks: neither says anything of another node. */
  async #request(node: RpcEndpoint, question: NodeQuestion): Promise<unknown> {
    const { method, params } = question;
    const signal = AbortSignal.timeout(SECOND_MS);
    const read = (result: unknown) => {
      this.#assertPlaced(question, result, node);
      return result;
    };
    return new ChainRpc([node]).requestOptional(method, params, read, signal).catch(() => undefined);
  }

  #note(node: RpcEndpoint, counts: { readonly leftOut: number; readonly invented: number }, blockNumber: string): void {
    const { logger, now, blame, count } = this.#deps;
    if (counts.leftOut > 0) count('left out', counts.leftOut);
    if (counts.invented > 0) count('invented', counts.invented);
    node.learn({ ability: 'wholeLogs' }, false);
    this.#watchedUntil.set(node, now() + WATCHED_MS);
    blame(node, counts);
    const found = { node: node.label, ...counts, block: Number(blockNumber) };
    logger.warn(found, 'a node does not give the logs that the chain has: another one is asked first');
  }
}
