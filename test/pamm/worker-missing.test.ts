import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { RedisKeys } from '../../builders/submit/queue/redis-keys.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { startedWorld } from '../harness/open-world.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { scrape } from '../operations/scrape.ts';
import { eventually } from './eventually.ts';
import { createProcesses } from './processes.ts';
import { startMocks } from './rig.ts';

/** What an API process says of a builders worker that does not run, or that runs under another prefix. */

const PREFIX = 'missing-worker';
const LIMIT_MS = 60_000;

const redis = startedWorld(createRedisDatabase);
const database = startedWorld(createMigratedDatabase);
const mocks = startedWorld(startMocks);
const processes = startedWorld(async () => {
  const env = { ...mocks.env, QUEUE_PREFIX: PREFIX };
  const options = { chains: mocks.chains, redisUrl: redis.url, databaseUrl: database.url, env };
  return createProcesses(options);
});
const api = startedWorld(() => processes.startApi('api'));

async function readiness() {
  const response = await fetch(`${api.base}/ready`);
  const { ready, failures, warnings } = (await response.json()) as Record<'failures' | 'warnings', object> & {
    readonly ready: boolean;
  };
  return { status: response.status, ready, failures, warnings };
}

const isMissing = async () => 'builders' in (await readiness()).warnings;

/** Waits until `/ready` and the metrics say so: each is reused for a second. */
async function untilMissing(wanted: boolean): Promise<void> {
  await eventually(async () => (await isMissing()) === wanted, LIMIT_MS);
  const inMetrics = async () => (await scrape(api.base)).sum('pamm_worker_missing');
  await eventually(async () => (await inMetrics()) === Number(wanted), LIMIT_MS);
}

// Both wait for leases most of the time.
test.concurrent('/ready and the metrics report that no worker runs under the prefix', {
  timeout: 240_000,
}, async () => {
  const other = await processes.startWorker({ QUEUE_PREFIX: `${PREFIX}-other` });
  await untilMissing(true);
  // Listings and quotes need no worker: a balancer that asks keeps sending them here.
  const ready = await eventually(async () => {
    const answer = await readiness();
    return answer.ready && 'builders' in answer.warnings && answer;
  }, LIMIT_MS);
  expect(ready).toEqual({
    status: 200,
    ready: true,
    failures: {},
    warnings: { builders: 'no builders worker runs under QUEUE_PREFIX: quote updates stay pending' },
  });
  expect((await fetch(`${api.base}/health`)).status).toBe(200);
  await other.stop();

  const worker = await processes.startWorker();
  await untilMissing(false);

  await worker.kill();
  await untilMissing(true);

  await worker.restart();
  await untilMissing(false);
  // Leases are renewed again and again: what is left of one grows. Where a machine that stood still has lost one, this
  // begins again.
  const client = new Redis(redis.url);
  const keys = await client.keys(new RedisKeys(PREFIX).lease('*'));
  const holders = async () => `${await client.mget(keys)}`;
  const answers = new Set<boolean>();
  let [held, renewals, left] = ['', 0, 0];
  await eventually(async () => {
    const answer = await isMissing();
    const before = left;
    left = await client.pttl(keys[0] ?? '');
    if ((await holders()) === held) {
      answers.add(answer);
      if (left > before) renewals += 1;
    } else {
      await untilMissing(false);
      answers.clear();
      [held, renewals, left] = [await holders(), 0, Number.POSITIVE_INFINITY];
    }
    return renewals === 6;
  }, LIMIT_MS);
  client.disconnect();
  expect(answers).toEqual(new Set([false]));
  await worker.stop();
});

test.concurrent('an API without a usable builder misses no worker', async () => {
  const chains = mocks.chains.map(({ pamm: _, ...chain }) => chain);
  const alone = await createProcesses({ chains, redisUrl: redis.url, databaseUrl: database.url });
  const plain = await alone.startApi('api');
  expect(await (await fetch(`${plain.base}/ready`)).json()).toMatchObject({ ready: true, warnings: {} });
  expect((await scrape(plain.base)).sum('pamm_worker_missing')).toBeUndefined();
  await plain.stop();
  await alone.remove();
});
