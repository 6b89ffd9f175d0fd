import { Gauge, type Registry } from 'prom-client';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { AuditChange } from './audit-index.ts';

/** Pools and factories of a chain, by what is known of them. */
export interface AuditCounts {
  readonly differing: number;
  /** Not read by the last comparison: funded pools and factories, remaining pools. */
  readonly unreadFunded: number;
  readonly unreadRemaining: number;
  /** What differs in them does not count: no pool of their factory shows what it needs. */
  readonly unproven: number;
}

/** Called after each run. */
export type OnAudit = (chainId: number, counts: AuditCounts) => void;

const countAudits = loadStatement<AuditCounts>('./count-audits.sql', import.meta.url);

/** Counts what is known of the served index of a chain. */
export async function readAuditCounts(database: Queryable, chainId: number): Promise<AuditCounts> {
  const [counts] = await countAudits(database, [chainId]);
  if (counts === undefined) throw new Error('a count of rows gave none');
  return counts;
}

/**
 * Exports `index_differing_pools{chain}`, `index_unread_pools{chain, class}` and `index_unproven_pools{chain}`;
 * factories count as funded pools.
 */
export function auditGauges(registry: Registry): OnAudit {
  const gauge = <Label extends string>(name: string, labelNames: readonly Label[], help: string) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const differing = gauge(
    'index_differing_pools',
    ['chain'],
    'Pools and factories whose index is not what the chain holds',
  );
  const unread = gauge(
    'index_unread_pools',
    ['chain', 'class'],
    'Pools and factories that no node gave at the block of their last comparison',
  );
  const unproven = gauge(
    'index_unproven_pools',
    ['chain'],
    'Pools and factories that differ where no pool of the factory shows how it counts',
  );
  return (chainId, counts) => {
    const chain = String(chainId);
    differing.set({ chain }, counts.differing);
    unread.set({ chain, class: 'funded' }, counts.unreadFunded);
    unread.set({ chain, class: 'remaining' }, counts.unreadRemaining);
    unproven.set({ chain }, counts.unproven);
  };
}

/** Logs a difference that counts from now on, and the end of one. */
export function logAudit(logger: Pick<Logger, 'info' | 'warn'>, { effect, ...change }: AuditChange): void {
  if (effect === 'differs') logger.warn(change, 'the index of a pool is not what the chain holds');
  else logger.info(change, 'the index of a pool is what the chain holds again');
}
