import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, test } from 'vitest';
import { issueApiKey, rotateApiKey } from '../../db/api-keys.ts';
import { startedWorld } from '../harness/open-world.ts';
import { testReadiness } from './api-readiness.ts';
import { EVENTUALLY, operatedApi } from './operated-api.ts';
import { PROCESSES, startOperatedWorld } from './operated-world.ts';
import { testIdleCost, testMetrics } from './process-metrics.ts';

/* One world for all that is asked of running processes: it takes longer to start than most of the tests. */

const MAX_LAG_SECS = 3;
/** A change of a key counts in every process within this time. */
const KEY_CHANGE_MS = 3_000;

const world = startedWorld(() =>
  startOperatedWorld({ INDEXING_MAX_LAG_SECS: String(MAX_LAG_SECS), LOG_LEVEL: 'info' }),
);
const { api } = operatedApi(world);

// Not in any order: the last tests stop what the first ones ask.
describe('processes that run', { shuffle: false }, () => {
  test('every process logs in to Postgres as itself', async () => {
    const { rows } = await world.database.query<{ login: string }>(
      `SELECT DISTINCT usename AS login FROM pg_stat_activity WHERE datname = current_database() AND usename <> 'postgres'`,
    );
    expect(rows.map(({ login }) => login).sort()).toEqual([...PROCESSES].sort());
  });

  test('capture logs in to Redis as itself, and takes what the API reads of live sources', async () => {
    const admin = new Redis(inject('redisUrl'));
    const user = `user=${new URL(world.captureRedisUrl).username} `;
    const channels = async () => {
      const connections = String(await admin.client('LIST')).split('\n');
      return connections.flatMap((line) => (line.includes(user) ? [/ sub=(\d+)/.exec(line)?.[1]] : []));
    };
    await expect.poll(channels, EVENTUALLY).toEqual(expect.arrayContaining(['0', String(world.chains.length)]));
    admin.disconnect();
  });

  // First: pools that were asked for are read at each block for a while.
  describe('a chain of one-second blocks that no client asks for', () => testIdleCost(world));
  describe('metrics', () => testMetrics(world));

  describe('keys', () => {
    const chainsWith = async (key: string) => (await api(key).GET('/public/v1/chains', {})).response.status;

    test('the old key of a rotation ends in the running API, the new one works at once', async () => {
      const old = await issueApiKey(world.database, 'holder');
      const kept = await issueApiKey(world.database, 'holder with a time of grace');
      for (const { key } of [old, kept]) expect(await chainsWith(key)).toBe(200);
      const rotated = await rotateApiKey(world.database, old.keyId, 0);
      const inGrace = await rotateApiKey(world.database, kept.keyId, 3_600);
      // biome-ignore lint/plugin: the whole time: keys that stay valid must not end in it either.
      await sleep(KEY_CHANGE_MS);
      // When exactly: `api/auth/key-verifier.test.ts`. What a database says late counts at the next request.
      await expect.poll(() => chainsWith(old.key)).toBe(401);
      for (const key of [rotated?.key, kept.key, inGrace?.key]) expect(await chainsWith(key ?? '')).toBe(200);
    });

    test('nothing secret is in the logs of any process, and no store refused it anything', () => {
      for (const name of PROCESSES) {
        const log = world.processes[name].log();
        expect(log, name).not.toMatch(/NOPERM|permission denied|must be owner/);
        expect(log, name).not.toMatch(/ptd_[0-9a-f]{12}_/);
        expect(log, name).not.toContain(new URL(world.databaseUrl).password);
      }
    });
  });

  describe('/ready of the API', { timeout: 150_000 }, () => testReadiness(world, MAX_LAG_SECS));
});
