import { BudgetedRpc } from '../../chain/read-schedule/budgeted-rpc.ts';
import { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import { readUnreadableFactories } from '../../db/factory-calibration.ts';
import { type CaptureChain, type CaptureDeps, now, openRpc, wallClock } from '../capture-chain.ts';
import { adaptive, type Job, jobsOfChain } from '../job.ts';
import { auditIndex } from './audit-index.ts';
import { logAudit, readAuditCounts } from './audit-report.ts';
import { extensionsOf } from './extensions.ts';

/** The comparison of a chain's index with its storage. It has its own nodes and budget: nodes may lack past states. */
export function auditJobs(
  { chain, chainId, database, logger, ofIndex }: CaptureChain,
  deps: Pick<CaptureDeps, 'file' | 'countCall' | 'onAudit'>,
): Job[] {
  const budget = new CallBudget(chain.readBudget.auditCallsPerMinute, ['funded'], now);
  const rpc = new BudgetedRpc(openRpc(chain, deps), budget, 'funded');
  const scope = async () => {
    const unreadable = await readUnreadableFactories(database);
    const isReadable = (factory: string) =>
      unreadable.every((row) => row.chainId !== chainId || row.factory !== factory);
    const { deployments } = await ofIndex();
    const audited = deployments.filter(({ enabled, poolFactory }) => enabled && isReadable(poolFactory));
    const layouts = new Map(audited.map(({ poolFactory, layout }) => [poolFactory, layout]));
    return { layouts, extensions: extensionsOf(deployments) };
  };
  const target = { rpc, chainId, multicall3: chain.multicall3 };
  const audit = { database, target, scope, wallClock, onChange: logAudit.bind(null, logger) };
  const run = async () => {
    await auditIndex(audit);
    deps.onAudit?.(chainId, await readAuditCounts(database, chainId));
  };
  return jobsOfChain(chainId, { 'index-audit': { pace: adaptive(5), run } });
}
