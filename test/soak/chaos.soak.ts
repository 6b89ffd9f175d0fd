import { expect, test } from 'vitest';
import { describeReport, describeViolations, violationsOf } from '../chaos/report.ts';
import { runChaos } from '../chaos/run-chaos.ts';
import { FULL, SHORT } from '../chaos/tempos.ts';
import { IS_LONG, SOAK_SEED } from './settings.ts';

test('nothing is lost when processes, Postgres and Redis are killed, chains reorganise and nodes stall', {
  timeout: 1_800_000,
}, async () => {
  const lines: string[] = [];
  const say = (line: string) => lines.push(line);
  const form = IS_LONG ? { ...FULL, seconds: 180 } : { ...SHORT, seconds: 20, chainCount: 1 };
  const report = await runChaos({ ...form, seed: SOAK_SEED, say });
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
  const acknowledged = Object.values(report.acknowledgements).reduce((sum, count) => sum + count, 0);
  expect(acknowledged, summary).toBeGreaterThan(10);
  expect(report.finalChecks.comparison.rows, summary).toBeGreaterThan(1_000);
});
