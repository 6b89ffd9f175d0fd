import { sql } from 'drizzle-orm';
import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import type { ReadBudget, ReadClass, ReadCost } from '../../chain/read-budget/read-budget.ts';
import { readAttentions } from '../../db/schema/operator.ts';
import { upsertRows } from '../../db/write-rows.ts';
import type { Backlog } from './pool-schedule.ts';

/** How a class of a chain is served. */
export interface Attention {
  readonly chainId: number;
  readonly kind: ReadClass;
  readonly backlog: Backlog;
  /** Of the class, in the last minute. */
  readonly spent: ReadCost;
  /** Of the chain. */
  readonly perMinute: ReadCost;
}

/** Told after each round how a class was served. */
export type OnAttention = (attention: Attention) => void;

/** Stores for `npm run status` how a class of a chain is served, and tells it. */
export async function reportAttention(
  database: pg.Pool,
  budget: ReadBudget,
  served: Pick<Attention, 'chainId' | 'kind' | 'backlog'>,
  onAttention: OnAttention | undefined,
): Promise<void> {
  const { chainId, kind, backlog } = served;
  const attention = { ...served, spent: budget.spent(kind), perMinute: budget.perMinute };
  onAttention?.(attention);
  const row = {
    chainId,
    class: kind,
    pools: backlog.pools,
    waiting: backlog.waiting,
    backingOff: backlog.backingOff,
    ageSecs: toSecs(backlog.ageMs),
    callsSpent: attention.spent.calls,
    gasSpent: Math.round(attention.spent.gas),
    callsPerMinute: budget.perMinute.calls,
    gasPerMinute: budget.perMinute.gas,
  };
  const options = { key: ['chainId', 'class'], computed: { measuredAt: sql`now()` }, evenIfSame: true } as const;
  await upsertRows(database, readAttentions, [row], options);
}

/** Shows it as `read_*{chain,class}`. */
export function attentionGauges(registry: Registry): OnAttention {
  const labels = ['chain', 'class'] as const;
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: labels, registers: [registry] });
  const ofUnit = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: [...labels, 'unit'] as const, registers: [registry] });
  const pools = gauge('read_pools', 'Pools whose prices are read on a schedule');
  const waiting = gauge('read_waiting_pools', 'Pools whose turn it was in the last round and that were not read');
  const backingOff = gauge('read_backing_off_pools', 'Pools that pause since they failed or burned gas');
  const age = gauge('read_age_seconds', 'Age of the oldest price among pools that do not pause');
  const spent = ofUnit('read_budget_spent', 'Calls and gas of scheduled reads in the last minute');
  const limit = new Gauge({
    name: 'read_budget_per_minute',
    help: 'Calls and gas that scheduled reads of a chain may take per minute',
    labelNames: ['chain', 'unit'] as const,
    registers: [registry],
  });
  return ({ chainId, kind, backlog, perMinute, ...attention }) => {
    const chain = String(chainId);
    const of = { chain, class: kind };
    pools.set(of, backlog.pools);
    waiting.set(of, backlog.waiting);
    backingOff.set(of, backlog.backingOff);
    age.set(of, toSecs(backlog.ageMs) ?? 0);
    for (const unit of ['calls', 'gas'] as const) {
      spent.set({ ...of, unit }, attention.spent[unit]);
      limit.set({ chain, unit }, perMinute[unit]);
    }
  };
}

const toSecs = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 1_000));
