import type { ChaosReport } from './run-chaos.ts';

/** Everything that must not have happened; empty after a good run. */
export function violationsOf({ http, finalChecks }: ChaosReport): string[] {
  return [...http.violations, ...finalChecks.comparison.differences, ...finalChecks.violations];
}

/** Violations with their counts; those that differ only in numbers and addresses are merged. */
export function describeViolations(violations: readonly string[]): string {
  const groups = Map.groupBy(violations, (violation) => violation.replace(/0x[0-9a-f]+|\d+/gi, '#'));
  return [...groups.values()].map((group) => `${group.length} x ${group[0]}`).join('\n');
}

/** What was done and what came of it, for people. */
export function describeReport(report: ChaosReport): string {
  const { http, finalChecks } = report;
  const counts = (of: Readonly<Record<string, unknown>>) =>
    Object.entries(of)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const kills = Object.values(report.kills).reduce((sum, each) => sum + each, 0);
  const ownEnds = Object.entries(report.ownEnds).filter(([, ends]) => ends.length > 0);
  const statuses = Object.entries(http.byStatus).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    `kills: ${kills} (${counts(report.kills)})`,
    `ended by themselves and started again: ${ownEnds.map(([name, ends]) => `${name} ${ends.length} (${[...new Set(ends)].join('; ')})`).join(', ') || 'none'}`,
    `reorganisations: ${report.reorganisations}, ${report.blocksUndone} blocks undone, the deepest ${report.deepestReorganisation}`,
    `stalls of nodes: ${report.stalls}`,
    `actions on the chains: ${report.actions}, pools opened: ${report.poolsOpened}`,
    `hostile pools opened: ${report.hostilePools}, ${report.hostilePackedPools} of them packed, with ${report.hostileTrades} trades; their contracts turned: ${counts(report.turns)}`,
    `answers: ${http.answers}, connections broken by kills: ${http.broken}`,
    `  ${counts(Object.fromEntries(statuses))}`,
    `  slowest, ms: ${counts(http.slowest)}`,
    `quote updates acknowledged to clients: ${counts(report.acknowledgements)}`,
    `caught up after ${(finalChecks.caughtUpMs / 1_000).toFixed(1)} s`,
    `equal rows: ${finalChecks.comparison.rows} in ${finalChecks.comparison.relations} tables and views; pools equal to their storage: ${finalChecks.pools}; equal quotes: ${finalChecks.quotes}`,
    `pools and factories that capture compared with the chains: ${finalChecks.audited}, of which it took for different ones: ${finalChecks.differed}`,
  ].join('\n');
}
