import { Gauge, type Registry } from 'prom-client';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { AuditChange } from './audit-index.ts';

/** Pools and factories of a chain: how many differ, and of how many this is not known. */
export interface AuditCounts {
  readonly differing: number;
  readonly unread: number;
}

/** Called after each run. */
export type OnAudit = (chainId: number, counts: AuditCounts) => void;

const countAudits = loadStatement<AuditCounts>('./count-audits.sql', import.meta.url);

/** Counts what is known of the served index of a chain. */
export async function readAuditCounts(database: Queryable, chainId: number): Promise<AuditCounts> {
  const [counts] = await countAudits(database, [chainId]);
  return counts ?? { differing: 0, unread: 0 };
}

/** Exports `index_differing_pools{chain}` and `index_unread_pools{chain}`; factories count as pools. */
export function auditGauges(registry: Registry): OnAudit {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['chain'] as const, registers: [registry] });
  const differing = gauge('index_differing_pools', 'Pools and factories whose index is not what the chain holds');
  const unread = gauge(
    'index_unread_pools',
    'Pools and factories that no node gave at the block of a comparison, or of which no pool of the factory shows how it counts',
  );
  return (chainId, counts) => {
    const chain = { chain: String(chainId) };
    differing.set(chain, counts.differing);
    unread.set(chain, counts.unread);
  };
}

/** Logs a difference that counts from now on, and the end of one. */
export function logAudit(logger: Pick<Logger, 'info' | 'warn'>, { effect, ...change }: AuditChange): void {
  if (effect === 'differs') logger.warn(change, 'the index of a pool is not what the chain holds');
  else logger.info(change, 'the index of a pool is what the chain holds again');
}
