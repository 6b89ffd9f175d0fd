import { createHash } from 'node:crypto';
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

/** What names a log: its place on a branch, and its contract. */
const NAME = ['blockHash', 'blockNumber', 'transactionHash', 'logIndex', 'address'] as const;

/** Whether two answers name the same logs in one order, in the same words. Without a parser, as nearly all do. */
export function nameSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((log, index) => NAME.every((field) => log?.[field] === other[index]?.[field]));
}

/** What an answer names. */
export interface LogDigest {
  /** Equal for the same logs, in whatever order and how often they come. */
  readonly names: string;
  readonly logs: number;
}

/** A digest of an answer, to keep in its place; undefined when the answer is no list. Its logs are not validated. */
export function digestLogs(result: unknown): LogDigest | undefined {
  if (!Array.isArray(result)) return undefined;
  const names = [...new Set(result.map((log) => NAME.map((field) => log?.[field]).join(' ')))].sort();
  return { names: createHash('sha256').update(names.join('\n')).digest('base64'), logs: names.length };
}

/** The part of a receipt that shows which logs a transaction has; null where a node has none. */
export const Receipt = z.object({ blockHash: Text, logs: z.array(Log) }).nullable();

export type Receipt = z.infer<typeof Receipt>;

/**
 * What is wrong with a log that one node gave and another did not. `disputed`: each has receipts that agree with it;
 * since nodes rather lack logs than invent any, it counts as left out, but no node is blamed. `unclear`:
 * receipts say nothing.
 */
export type LogFault = 'left out' | 'invented' | 'disputed' | 'unclear';

/** Logs by what is wrong with them. */
export type Doubted = Readonly<Record<LogFault, readonly NodeLog[]>>;

/** Receipts by transaction, null where the node has none, as while it lags or is on another branch. */
type Receipts = ReadonlyMap<string, Receipt>;

/**
 * Says by receipts, whether the node that did not give a log left it out or the other one invented it. A log of a
 * transaction without receipts here is as the others, if these agree.
 *
 * @param atOther receipts at the node that did not give the logs: they prove a log that they have
 * @param atGiver receipts at the node that gave them: a log that they lack as well is invented
 */
export function sortByFault(logs: readonly NodeLog[], atOther: Receipts, atGiver: Receipts): Doubted {
  const asked = logs.filter(({ transactionHash }) => atOther.has(transactionHash));
  const found = asked.map((log) => faultOf(log, atOther, atGiver));
  const [all = 'unclear'] = new Set(found).size === 1 ? found : [];
  const faults: Record<LogFault, NodeLog[]> = { 'left out': [], invented: [], disputed: [], unclear: [] };
  for (const [index, log] of asked.entries()) faults[found[index] ?? 'unclear'].push(log);
  faults[all].push(...logs.filter(({ transactionHash }) => !atOther.has(transactionHash)));
  return faults;
}

function faultOf(log: NodeLog, atOther: Receipts, atGiver: Receipts): LogFault {
  const [other, giver] = [atOther, atGiver].map((receipts) => has(receipts.get(log.transactionHash), log));
  if (other) return 'left out';
  if (other === undefined || giver === undefined) return 'unclear';
  return giver ? 'disputed' : 'invented';
}

/** Whether a receipt has a log; undefined where it is none of the log's block. */
function has(receipt: Receipt | undefined, log: NodeLog): boolean | undefined {
  if (receipt?.blockHash !== log.blockHash) return undefined;
  return receipt.logs.some((other) => isSame(log, other));
}

const isSame = (one: NodeLog, other: NodeLog): boolean =>
  nameOf(one) === nameOf(other) && one.data === other.data && `${one.topics}` === `${other.topics}`;

/** Names a log: the same place on a branch, and the same contract. */
const nameOf = ({ blockHash, blockNumber, transactionHash, logIndex, address }: NodeLog): string =>
  `${blockHash} ${Number(blockNumber)} ${transactionHash} ${Number(logIndex)} ${address.toLowerCase()}`;

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
