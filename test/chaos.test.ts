import { expect, test } from 'vitest';
import { describeOffences, describeReport, offencesOf } from './chaos/report.ts';
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
  const told = [...lines, describeReport(report), describeOffences(offencesOf(report))].join('\n');
  expect(offencesOf(report), told).toEqual([]);

  for (const name of ['indexer', 'postgres', 'redis']) expect(report.kills[name], told).toBeGreaterThan(0);
  const small = Object.entries(report.kills).filter(([name]) => /^(api|capture|builders)/.test(name));
  expect(
    small.reduce((sum, [, kills]) => sum + kills, 0),
    told,
  ).toBeGreaterThan(3);
  expect(report.reorganisations, told).toBeGreaterThan(1);
  expect(report.stalls, told).toBeGreaterThan(0);
  expect(report.hostilePools, told).toBeGreaterThan(2);
  expect(report.hostilePackedPools, told).toBeGreaterThan(0);
  expect(report.hostileTrades, told).toBeGreaterThan(0);
  expect(report.http.answers, told).toBeGreaterThan(50);
  expect(report.acknowledgements, told).toBeGreaterThan(10);
  expect(report.aftermath.comparison.rows, told).toBeGreaterThan(1_000);
});
