import { z } from 'zod';

const Text = z.string();
/** A log as a node gives it. Further fields are kept. */
const Log = z.looseObject({
  address: Text,
  topics: z.array(Text),
  data: Text,
  blockHash: Text,
  blockNumber: Text,
  transactionHash: Text,
  logIndex: Text,
});

export type NodeLog = z.infer<typeof Log>;

/** The logs of an answer; undefined when it is none. */
export const logsOf = (result: unknown): NodeLog[] | undefined => z.array(Log).safeParse(result).data;

/** The part of a receipt that shows which logs a transaction has. */
export const Receipt = z.object({ blockHash: Text, logs: z.array(Log) }).nullable();

/** What is wrong with a log that one node gave and another did not; `unclear` where receipts do not show it. */
export type LogFault = 'left out' | 'invented' | 'unclear';

/**
 * Says by the receipt at the node that did not give a log, whether it left the log out or the other one invented it.
 *
 * @param receipt of the log's transaction; null where the node has none, as while it lags or is on another branch
 */
export function faultOf(log: NodeLog, receipt: z.infer<typeof Receipt>): LogFault {
  if (receipt?.blockHash !== log.blockHash) return 'unclear';
  return receipt.logs.some((other) => isSame(log, other)) ? 'left out' : 'invented';
}

const isSame = (one: NodeLog, other: NodeLog): boolean =>
  nameOf(one) === nameOf(other) && one.data === other.data && `${one.topics}` === `${other.topics}`;

/** Names a log: the same place on a branch, and the same contract. */
const nameOf = ({ blockHash, logIndex, address }: NodeLog): string =>
  `${blockHash} ${logIndex} ${address.toLowerCase()}`;

/** The logs that are in the first list alone. */
export function missingIn(logs: readonly NodeLog[], others: readonly NodeLog[]): NodeLog[] {
  const names = new Set(others.map(nameOf));
  return logs.filter((log) => !names.has(nameOf(log)));
}

/** Each log once, in the order of the chain. */
export function inOrder(logs: readonly NodeLog[]): NodeLog[] {
  const byName = new Map(logs.map((log) => [nameOf(log), log]));
  return [...byName.values()].sort(
    (one, other) =>
      Number(one.blockNumber) - Number(other.blockNumber) || Number(one.logIndex) - Number(other.logIndex),
  );
}
