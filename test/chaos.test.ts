import { expect, test } from 'vitest';
import { describeReport, describeViolations, violationsOf } from './chaos/report.ts';
import { runChaos } from './chaos/run-chaos.ts';
import { SHORT } from './chaos/tempos.ts';

const SECONDS = 20;

/** The short form of `npm run test:chaos`. */
test('nothing is lost when processes, Postgres and Redis are killed, chains reorganise and nodes stall', {
  timeout: 900_000,
}, async () => {
  const lines: string[] = [];
  const seed = Date.now() % 1_000_000_000;
  const report = await runChaos({ ...SHORT, seed, seconds: SECONDS, chainCount: 1, say: (line) => lines.push(line) });
  const summary = [...lines, describeReport(report), describeViolations(violationsOf(report))].join('\n');
  expect(violationsOf(report), summary).toEqual([]);

  for (const name of ['indexer', 'postgres', 'redis']) expect(report.kills[name], summary).toBeGreaterThan(0);
  const small = Object.entries(report.kills).filter(([name]) => /^(api|capture|builders)/.test(name));
  expect(
    small.reduce((sum, [, kills]) => sum + kills, 0),
    summary,
  ).toBeGreaterThan(3);
  expect(report.reorganisations, summary).toBeGreaterThan(1);
  expect(report.stalls, summary).toBeGreaterThan(0);
  expect(report.hostilePools, summary).toBeGreaterThan(2);
  expect(report.hostilePackedPools, summary).toBeGreaterThan(0);
  expect(report.hostileTrades, summary).toBeGreaterThan(0);
  expect(report.http.answers, summary).toBeGreaterThan(50);
  expect(report.acknowledgements, summary).toBeGreaterThan(10);
  expect(report.finalChecks.comparison.rows, summary).toBeGreaterThan(1_000);
});
