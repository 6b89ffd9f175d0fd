import { ChainRpc } from '../../chain/chain-rpc.ts';
import type { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { NodeQuestion } from './answer-request.ts';
import { type LogFault, logsOf, missingIn, type NodeLog } from './compare-logs.ts';
import { judgeLogs } from './judge-logs.ts';
import { countMisplaced } from './logs-asked.ts';

/** An answer waits for the second node for this long. */
const SECOND_MS = 2_000;

export interface NodeJudgeDeps {
  /** Counts logs that a node did not give, or should not have. */
  readonly count: (fault: LogFault, logs: number) => void;
  /** Takes note of a node that left logs out, or invented some. */
  readonly blame: (node: RpcEndpoint, logs: { readonly leftOut: number; readonly invented: number }) => void;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Two nodes that were asked for the same logs. */
export interface AskedNodes {
  readonly question: NodeQuestion;
  readonly first: RpcEndpoint;
  readonly second: RpcEndpoint;
}

/** Asks single nodes for logs, and finds out which of them is wrong. */
export class NodeJudge {
  readonly #deps: NodeJudgeDeps;

  constructor(deps: NodeJudgeDeps) {
    this.#deps = deps;
  }

  /** Blames the node that is wrong. @returns the logs of the chain; undefined when these are no answers */
  async judged(
    { first, second, question }: AskedNodes,
    given: unknown,
    other: unknown,
  ): Promise<readonly NodeLog[] | undefined> {
    const [logs, others] = [logsOf(given), logsOf(other)];
    if (!logs || !others) return undefined;
    const [lacking, surplus] = [missingIn(others, logs), missingIn(logs, others)];
    if (lacking.length + surplus.length === 0) return logs;
    const [found, doubted] = [await judgeLogs(lacking, second, first), await judgeLogs(surplus, first, second)];
    for (const fault of ['disputed', 'unclear'] as const) this.#count(fault, [...found[fault], ...doubted[fault]]);
    await this.#blame(first, question, { leftOut: found['left out'], invented: doubted.invented });
    await this.#blame(second, question, { leftOut: doubted['left out'], invented: found.invented });
    return [...missingIn(logs, doubted.invented), ...found['left out'], ...found.disputed];
  }

  #count(fault: LogFault, logs: readonly NodeLog[]): void {
    if (logs.length > 0) this.#deps.count(fault, logs.length);
  }

  async #blame(
    node: RpcEndpoint,
    question: NodeQuestion,
    { leftOut, invented }: Readonly<Record<'leftOut' | 'invented', readonly NodeLog[]>>,
  ): Promise<void> {
    if (leftOut.length + invented.length === 0) return;
    // It may have got the block only now.
    const again = leftOut.length > 0 ? logsOf(await this.request(node, question)) : [];
    if (invented.length === 0 && again && missingIn(leftOut, again).length === 0) return;
    const [{ blockNumber } = { blockNumber: '' }] = [...leftOut, ...invented];
    this.note(node, { leftOut: leftOut.length, invented: invented.length }, blockNumber);
  }

  /** @throws RpcFailure `malformed` for logs of other blocks than were asked for */
  assertPlaced(question: NodeQuestion, result: unknown, node: RpcEndpoint): void {
    const misplaced = countMisplaced(question, result);
    if (misplaced === 0) return;
    this.note(node, { leftOut: 0, invented: misplaced }, '');
    throw new RpcFailure('malformed', 'a node gave logs of another block than was asked for');
  }

  /** Undefined where the node fails, or gives logs of other blocks: neither says anything of another node. */
  async request(node: RpcEndpoint, question: NodeQuestion): Promise<unknown> {
    const { method, params } = question;
    const signal = AbortSignal.timeout(SECOND_MS);
    const read = (result: unknown) => {
      this.assertPlaced(question, result, node);
      return result;
    };
    return new ChainRpc([node]).requestOptional(method, params, read, signal).catch(() => undefined);
  }

  /** Takes note of a node that was wrong: another one is asked first. */
  note(node: RpcEndpoint, counts: { readonly leftOut: number; readonly invented: number }, blockNumber: string): void {
    const { logger, blame, count } = this.#deps;
    if (counts.leftOut > 0) count('left out', counts.leftOut);
    if (counts.invented > 0) count('invented', counts.invented);
    node.learn({ ability: 'wholeLogs' }, false);
    blame(node, counts);
    const found = { node: node.label, ...counts, block: Number(blockNumber) };
    logger.warn(found, 'a node does not give the logs that the chain has: another one is asked first');
  }
}
