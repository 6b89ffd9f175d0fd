import { Counter, type Registry } from 'prom-client';
import type { LogFault } from './compare-logs.ts';
import type { Comparison } from './logs-of-two.ts';

/** Counts logs that a node did not give, or should not have: `node_log_faults_total{chain, fault}`. */
export function logFaultCounter(registry: Registry): (chainId: number, fault: LogFault, logs: number) => void {
  const counter = new Counter({
    name: 'node_log_faults_total',
    help: 'Logs that a node left out, invented or moved, or gave alone while receipts do not show which is right',
    labelNames: ['chain', 'fault'] as const,
    registers: [registry],
  });
  return (chainId, fault, logs) => counter.inc({ chain: String(chainId), fault }, logs);
}

/** Counts answers with logs that were to be compared: `node_log_comparisons_total{chain, result}`. */
export function logComparisonCounter(registry: Registry): (chainId: number, result: Comparison) => void {
  const counter = new Counter({
    name: 'node_log_comparisons_total',
    help: 'Answers with logs that were compared with those of another node, skipped as it had too many others, or unanswered by one of both',
    labelNames: ['chain', 'result'] as const,
    registers: [registry],
  });
  return (chainId, result) => counter.inc({ chain: String(chainId), result });
}
