import type { ChaosReport } from './run-chaos.ts';

/** Everything that must not have happened; empty after a good run. */
export function offencesOf({ http, aftermath }: ChaosReport): string[] {
  return [...http.offences, ...aftermath.comparison.differences, ...aftermath.offences];
}

/** Offences with how often each came; those that differ in numbers and addresses alone are told as one. */
export function describeOffences(offences: readonly string[]): string {
  const groups = new Map<string, { readonly example: string; count: number }>();
  for (const offence of offences) {
    const kind = offence.replace(/0x[0-9a-f]+|\d+/gi, '#');
    const group = groups.get(kind) ?? { example: offence, count: 0 };
    group.count += 1;
    groups.set(kind, group);
  }
  return [...groups.values()].map(({ example, count }) => `${count} x ${example}`).join('\n');
}

/** What was done and what came of it, for people. */
export function describeReport(report: ChaosReport): string {
  const { http, aftermath } = report;
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
    `quote updates acknowledged to clients: ${report.acknowledgements}`,
    `caught up after ${(aftermath.caughtUpMs / 1_000).toFixed(1)} s`,
    `equal rows: ${aftermath.comparison.rows} in ${aftermath.comparison.relations} tables and views; pools equal to their storage: ${aftermath.pools}; equal quotes: ${aftermath.quotes}`,
  ].join('\n');
}
