import type { NodeLog } from './misbehaviour.ts';

/** Other logs than those that a node has. */
export type LogFault = (logs: readonly NodeLog[]) => readonly NodeLog[];

/**
 * Ways in which a node gives other logs than the chain has, with status 200.
 * What it lacks is of more than one transaction.
 */
export const LOG_FAULTS = {
  /** Without every second transaction, beginning with the first one, but with the last. */
  leavesOut: (logs) => {
    const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
    const left = new Set(hashes.slice(0, -1).filter((_, index) => index % 2 === 0));
    return logs.filter(({ transactionHash }) => !left.has(transactionHash));
  },
  doubles: (logs) => logs.flatMap((log) => [log, log]),
  reorders: (logs) => logs.toReversed(),
  /** Without the second half. */
  truncates: (logs) => logs.slice(0, Math.ceil(logs.length / 2)),
  /** Each in the block after its own. */
  moves: (logs) => logs.map((log) => ({ ...log, blockNumber: `0x${(Number(log.blockNumber) + 1).toString(16)}` })),
} as const satisfies Record<string, LogFault>;

/** A fault that leaves logs out, of these contracts alone. */
export const ofContracts =
  (addresses: readonly string[], fault: LogFault): LogFault =>
  (logs) => {
    const isOf = ({ address }: NodeLog) => addresses.includes(address);
    const given = new Set(fault(logs.filter(isOf)));
    return logs.filter((log) => !isOf(log) || given.has(log));
  };
