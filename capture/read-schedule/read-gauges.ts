import { Gauge, type Registry } from 'prom-client';
import type { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import type { Backlog } from '../../chain/read-schedule/read-scheduler.ts';
import type { CaptureClass } from './pool-values.ts';

/** Called after each run, with what is left to read of a class of a chain, and with the budget. */
export type OnRead = (chainId: number, kind: CaptureClass, backlog: Backlog, budget: CallBudget) => void;

/** Exports backlogs and budgets as `read_*{chain,class}`. */
export function readGauges(registry: Registry): OnRead {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['chain', 'class'] as const, registers: [registry] });
  const pools = gauge('read_pools', 'Pools whose prices are read on a schedule');
  const overdue = gauge('read_overdue_pools', 'Pools whose turn it was in the last run and that were not read');
  const backoff = gauge('read_backoff_pools', 'Pools that wait since they failed or burned gas');
  const age = gauge('read_oldest_age_seconds', 'Age of the oldest price among pools that do not back off');
  const spent = gauge('read_budget_spent', 'Calls of scheduled reads in the last minute');
  const limit = new Gauge({
    name: 'read_budget_per_minute',
    help: 'Calls that scheduled reads of a chain may make per minute',
    labelNames: ['chain'] as const,
    registers: [registry],
  });
  return (chainId, kind, backlog, budget) => {
    const chain = String(chainId);
    const of = { chain, class: kind };
    pools.set(of, backlog.reads);
    overdue.set(of, backlog.overdue);
    backoff.set(of, backlog.backoff);
    age.set(of, Math.round((backlog.oldestAgeMs ?? 0) / 1_000));
    spent.set(of, budget.spent(kind));
    limit.set({ chain }, budget.callsPerMinute);
  };
}
