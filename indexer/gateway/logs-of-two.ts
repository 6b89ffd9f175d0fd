import { z } from 'zod';
import { ableNodes } from '../../chain/able-nodes.ts';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import type { Clock } from '../../runtime/clock.ts';
import { blockOfLogs, type NodeAnswer, type NodeQuestion } from './answer-request.ts';
import { digestLogs, inOrder, logsOf, nameSame } from './compare-logs.ts';
import { type LaterComparison, LaterComparisons } from './later-comparisons.ts';
import { LogPlaces } from './log-places.ts';
import { type AskedNodes, NodeJudge, type NodeJudgeDeps } from './node-judge.ts';

/**
 * What became of an answer that was to be compared. `skipped`: too many waited for it, or it is of one new block;
 * `unanswered`: one of both nodes gave no logs in time.
 */
export type Comparison = 'compared' | 'skipped' | 'unanswered';

export interface LogsOfTwoDeps extends NodeJudgeDeps {
  readonly countComparison: (result: Comparison) => void;
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
/** Most comparisons at a time at one node, beyond which answers wait for theirs: it may have a limit of requests. */
const MAX_AT_A_TIME = 2;

/**
 * Compares logs that two nodes give: a node may leave logs out with status 200. Where they differ, receipts decide. The
 * answer is that of the nodes as they are asked for anything, with what it lacks and without what was invented. A node
 * that was wrong is not asked for a while. What the second node fails to do costs nothing but its part
 * of the comparison. An answer that has to wait for its comparison is given as it is: what it lacked is not filled in,
 * but its node is blamed.
 */
export class LogsOfTwo {
  readonly #deps: LogsOfTwoDeps;
  readonly #judge: NodeJudge;
  /** Until when all answers of a node are compared. */
  readonly #watchedUntil = new Map<RpcEndpoint, number>();
  readonly #comparing = new Map<RpcEndpoint, number>();
  readonly #places = new LogPlaces();
  readonly #later = new LaterComparisons();
  #isComparingLater = false;

  constructor(deps: LogsOfTwoDeps) {
    this.#deps = deps;
    const blame: NodeJudgeDeps['blame'] = (node, logs) => {
      this.#watchedUntil.set(node, deps.now() + WATCHED_MS);
      deps.blame(node, logs);
    };
    this.#judge = new NodeJudge({ ...deps, blame });
  }

  /** Answers `eth_getLogs`. @param ask asks the nodes, in their order */
  async answer(rpc: ChainRpc, asked: NodeQuestion, ask: AskNodes): Promise<NodeAnswer> {
    const question = { ...asked, blockNumber: asked.blockNumber ?? this.#places.numberOf(blockOfLogs(asked) ?? '') };
    const nodes = ableNodes(rpc.endpoints, question).endpoints.filter(({ breaker }) => !breaker.isOpen);
    const [first, second] = nodes;
    const isDue = first !== undefined && second !== undefined && this.#isDue(first);
    if (isDue && this.#hasTime(second)) return this.#counted(second, () => this.#compared(second, question, ask));
    let given = first;
    const answer = await ask(question, (result, node) => {
      this.#judge.assertPlaced(question, result, node);
      this.#places.noteLogs(node, result);
      given = node;
    });
    if (isDue && given) this.#compareSoon({ question, first: given, second }, answer);
    return answer;
  }

  #hasTime(node: RpcEndpoint): boolean {
    return (this.#comparing.get(node) ?? 0) < MAX_AT_A_TIME;
  }

  async #counted<T>(second: RpcEndpoint, compare: () => Promise<T>): Promise<T> {
    const add = (change: number) => this.#comparing.set(second, (this.#comparing.get(second) ?? 0) + change);
    add(1);
    try {
      return await compare();
    } finally {
      add(-1);
      this.#compareNext();
    }
  }

  /** Not what is asked of a block by its hash: it is new, and a node may get it only after it was asked. */
  #compareSoon(of: AskedNodes, answer: NodeAnswer): void {
    const given = 'result' in answer ? digestLogs(answer.result) : undefined;
    if (!given || of.first === of.second) this.#deps.countComparison('unanswered');
    else if (blockOfLogs(of.question) !== undefined || !this.#later.add({ ...of, given }))
      this.#deps.countComparison('skipped');
    this.#compareNext();
  }

  /** One at a time, so that a node has time for an answer that waits for it. */
  #compareNext(): void {
    const { second } = this.#later;
    if (!second || this.#isComparingLater || !this.#hasTime(second)) return;
    const next = this.#later.take();
    if (!next) return;
    this.#isComparingLater = true;
    void this.#counted(second, async () => {
      await this.#compareLater(next).catch((err: unknown) => this.#deps.logger.warn({ err }, 'a comparison failed'));
      this.#isComparingLater = false;
    });
  }

  /** Blames a node also where it gives by now what it did not give before: its first answer was of final blocks. */
  async #compareLater({ question, first, second, given }: LaterComparison): Promise<void> {
    const other = await this.#judge.request(second, question);
    const found = digestLogs(other);
    this.#deps.countComparison(found ? 'compared' : 'unanswered');
    if (!found || found.names === given.names) return;
    const again = await this.#judge.request(first, question);
    if (digestLogs(again)?.names === found.names) {
      const lacking = found.logs - given.logs;
      // As many logs of other names: at least one was invented.
      const counts = { leftOut: Math.max(lacking, 0), invented: lacking === 0 ? 1 : Math.max(-lacking, 0) };
      this.#judge.note(first, counts, logsOf(other)?.[0]?.blockNumber ?? '');
    } else await this.#judge.judged({ first, second, question }, again, other);
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
      this.#judge.note(placed.node, { leftOut: 0, invented: placed.logs }, placed.blockNumber);
  }

  async #compared(second: RpcEndpoint, question: NodeQuestion, ask: AskNodes): Promise<NodeAnswer> {
    let first = second;
    const asked = ask(question, (result, node) => {
      this.#judge.assertPlaced(question, result, node);
      first = node;
    });
    const [answer, other] = await Promise.all([asked, this.#judge.request(second, question)]);
    const given = 'result' in answer ? answer.result : undefined;
    // The first node may have failed, so that the second one gave both.
    const isUnanswered = other === undefined || first === second;
    this.#deps.countComparison(isUnanswered ? 'unanswered' : 'compared');
    if (isUnanswered) {
      this.#places.noteLogs(first, given);
      return answer;
    }
    if (nameSame(given, other)) return answer;
    const logs = await this.#judge.judged({ first, second, question }, given, other);
    return logs ? { result: inOrder(logs) } : answer;
  }

  #isDue(node: RpcEndpoint): boolean {
    const { now, random } = this.#deps;
    const watchedUntil = this.#watchedUntil.get(node) ?? now() + WATCHED_MS;
    this.#watchedUntil.set(node, watchedUntil);
    return now() < watchedUntil || random() < COMPARED_SHARE;
  }
}
