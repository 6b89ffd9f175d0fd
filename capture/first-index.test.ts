import { Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ChainsFile } from '../config/chains-schema.ts';
import { announceIndex } from '../db/first-index.ts';
import { createLogger, type Logger } from '../runtime/logger.ts';
import { migratedDatabase } from '../test/harness/migrated-database.ts';
import { createOnchainTables } from '../test/harness/onchain-tables.ts';
import { pass, stopTime, until } from '../test/harness/stopped-time.ts';
import { captureJobs } from './capture-jobs.ts';
import { startJobs } from './jobs.ts';

const database = migratedDatabase();

function startAll() {
  const logged: string[] = [];
  const log = ({ err }: { err?: Error }, message: string) => logged.push(err ? `${message}: ${err.message}` : message);
  const logger = { info: log, warn: log, error: log, child: () => logger } as unknown as Logger;
  const factory = { poolFactory: `0x${'1'.repeat(40)}`, dataProvider: `0x${'2'.repeat(40)}` };
  const deployment = { contractVersion: 'v1', layout: 'packed', fromBlock: 0, ...factory };
  const chain = { chainId: 5, name: 'five', rpcUrls: ['http://127.0.0.1:1'], blockTimeMs: 1_000 };
  const file = ChainsFile.parse({ chains: [{ ...chain, deployments: [deployment] }] });
  const settings = { fiatMaxAgeSecs: 10, statusMaxAgeSecs: 10, llamaUrl: 'http://127.0.0.1:1' };
  const all = captureJobs({ file, database: database.pool, ...settings, logger });
  return { logged, jobs: startJobs(all, database.pool, new Registry(), logger) };
}

test('jobs wait for the first index, and begin soon after it without having failed', async () => {
  const early = startAll();
  await vi.waitFor(() => expect(early.logged).toEqual(['jobs wait for the first index']));
  await early.jobs.stop();
  const { logged, jobs } = startAll();
  const states = () => Promise.all(Object.values(jobs.checks).map((check) => check()));
  expect(new Set(await states())).toEqual(new Set(['has not succeeded yet']));
  await vi.waitFor(() => expect(logged).not.toEqual([]));
  await createOnchainTables(database.pool);
  await announceIndex(database.pool);
  await vi.waitFor(async () => expect(new Set(await states())).toEqual(new Set([null])));
  expect(logged).toEqual(['jobs wait for the first index']);
  await jobs.stop();
});

test('a job that uses what others find begins after their first runs, and without one that hangs', async () => {
  stopTime();
  const runs: string[] = [];
  const job = (name: string, run: () => Promise<unknown>) => ({ name, run, minPauseMs: 300, maxPauseMs: 60_000 });
  const finds = (name: string, found?: Promise<void>) => job(name, async () => [await found, runs.push(name)]);
  const [slow, hanging] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isHanging = false;
  const hang = () => {
    isHanging = true;
    return hanging.promise;
  };
  const uses = { ...job('uses', async () => runs.push('uses')), afterOthers: true } as const;
  const logger = createLogger('test', 'silent');
  const first = startJobs(
    [uses, job('failing', () => Promise.reject(new Error('no'))), finds('quick'), finds('slow', slow.promise)],
    database.pool,
    new Registry(),
    logger,
  );
  await until(() => runs.includes('quick'));
  await pass(299);
  slow.resolve();
  await until(() => runs.includes('uses'));
  await first.stop();
  expect(runs).toEqual(['quick', 'slow', 'uses']);
  runs.length = 0;
  const second = startJobs([uses, job('hanging', hang)], database.pool, new Registry(), logger);
  await until(() => isHanging);
  await pass(299);
  expect(runs).toEqual([]);
  await pass(1);
  expect(runs).toEqual(['uses']);
  hanging.resolve();
  await second.stop();
});

test('the jobs of many chains are no leak to Node', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on('warning', onWarning);
  onTestFinished(() => {
    process.off('warning', onWarning);
  });
  const run = async () => undefined;
  const many = Array.from({ length: 50 }, (_, at) => ({ name: `job ${at}`, run, minPauseMs: 300, maxPauseMs: 60_000 }));
  const jobs = startJobs(many, database.pool, new Registry(), createLogger('test', 'silent'));
  await jobs.stop();
  expect(warnings).not.toContain('MaxListenersExceededWarning');
});
