import { ableNodes } from '../../chain/able-nodes.ts';
import { ChainRpc } from '../../chain/chain-rpc.ts';
import type { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { NodeQuestion } from './answer-request.ts';
import { faultOf, inOrder, type LogFault, logsOf, missingIn, type NodeLog, Receipt } from './compare-logs.ts';

export interface LogsOfTwoDeps {
  /** Counts logs that one of two nodes did not give, or should not have. */
  readonly count: (fault: LogFault, logs: number) => void;
  readonly logger: Pick<Logger, 'warn'>;
  readonly now: Clock;
  /** 0 to 1. */
  readonly random: () => number;
}

/** For so long all answers of a node are compared: from its first one, and from each that was wrong. */
export const WATCHED_MS = 3_600_000;
/** Share of the answers of other nodes that are compared. */
export const COMPARED_SHARE = 0.05;
/** Most transactions whose receipts are asked for after one answer. */
const MAX_RECEIPTS = 50;

/**
 * Compares logs that two nodes give: a node may leave logs out with status 200. Where they differ, receipts of the node that
 * does not give a log decide. What both together have is the answer, and a node that was wrong is asked last.
 */
export class LogsOfTwo {
  readonly #deps: LogsOfTwoDeps;
  /** Until when all answers of a node are compared. */
  readonly #watchedUntil = new Map<RpcEndpoint, number>();

  constructor(deps: LogsOfTwoDeps) {
    this.#deps = deps;
  }

  /**
   * Answers `eth_getLogs` by two nodes, if a comparison is due.
   *
   * @returns undefined when it is not, or the first node gives no logs: the nodes are then to be asked as for any request
   */
  async answer(rpc: ChainRpc, question: NodeQuestion): Promise<readonly NodeLog[] | undefined> {
    const nodes = ableNodes(rpc.endpoints, question).endpoints.filter(({ breaker }) => !breaker.isOpen);
    const [first, second] = nodes;
    if (!first || !second || !this.#isDue(first)) return undefined;
    const [logs, others] = await Promise.all([first, second].map((node) => requestLogs(node, question)));
    if (!logs || !others) return logs && inOrder(logs);
    const [lacking, surplus] = [missingIn(others, logs), missingIn(logs, others)];
    if (lacking.length + surplus.length === 0) return inOrder(logs);
    const [found, doubted] = await Promise.all([judge(first, lacking), judge(second, surplus)]);
    this.#note(first, { leftOut: found['left out'], invented: doubted.invented });
    this.#note(second, { leftOut: doubted['left out'], invented: found.invented });
    const unclear = found.unclear.length + doubted.unclear.length;
    if (unclear > 0) this.#deps.count('unclear', unclear);
    return inOrder([...missingIn(logs, doubted.invented), ...found['left out']]);
  }

  #isDue(node: RpcEndpoint): boolean {
    const { now, random } = this.#deps;
    const watchedUntil = this.#watchedUntil.get(node) ?? now() + WATCHED_MS;
    this.#watchedUntil.set(node, watchedUntil);
    return now() < watchedUntil || random() < COMPARED_SHARE;
  }

  #note(node: RpcEndpoint, { leftOut, invented }: Readonly<Record<'leftOut' | 'invented', readonly NodeLog[]>>): void {
    if (leftOut.length + invented.length === 0) return;
    const { count, logger, now } = this.#deps;
    if (leftOut.length > 0) count('left out', leftOut.length);
    if (invented.length > 0) count('invented', invented.length);
    node.learn({ ability: 'wholeLogs' }, false);
    this.#watchedUntil.set(node, now() + WATCHED_MS);
    const [{ blockNumber } = { blockNumber: '' }] = [...leftOut, ...invented];
    const counts = { node: node.label, leftOut: leftOut.length, invented: invented.length, block: Number(blockNumber) };
    logger.warn(counts, 'a node does not give the logs that the chain has: another one is asked first');
  }
}

async function requestLogs(node: RpcEndpoint, { method, params }: NodeQuestion): Promise<NodeLog[] | undefined> {
  return new ChainRpc([node]).request(method, params, logsOf).catch(() => undefined);
}

/** Sorts logs of another node by what receipts of this one show. Of many transactions, the first ones stand for all if they agree. */
async function judge(node: RpcEndpoint, logs: readonly NodeLog[]): Promise<Readonly<Record<LogFault, NodeLog[]>>> {
  const rpc = new ChainRpc([node]);
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
  const read = async (hash: string) => {
    const request = rpc.request('eth_getTransactionReceipt', [hash], (result) => Receipt.parse(result));
    return [hash, await request.catch(() => null)] as const;
  };
  const receipts = new Map(await Promise.all(hashes.slice(0, MAX_RECEIPTS).map(read)));
  const asked = logs.filter(({ transactionHash }) => receipts.has(transactionHash));
  const found = asked.map((log) => faultOf(log, receipts.get(log.transactionHash) ?? null));
  const [all = 'unclear'] = new Set(found).size === 1 ? found : [];
  const faults: Record<LogFault, NodeLog[]> = { 'left out': [], invented: [], unclear: [] };
  for (const [index, log] of asked.entries()) faults[found[index] ?? 'unclear'].push(log);
  faults[all].push(...logs.filter(({ transactionHash }) => !receipts.has(transactionHash)));
  return faults;
}
