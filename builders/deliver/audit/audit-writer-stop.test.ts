import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../db/connection.ts';
import { createLogger } from '../../../runtime/logger.ts';
import { connectPatient } from '../../../runtime/redis-connections.ts';
import { RedisKeys } from '../../submit/queue/redis-keys.ts';
import { AuditWriter } from './audit-writer.ts';

test('a writer that has never reached Redis stops at once', async () => {
  const logger = createLogger('test', 'silent');
  const database = openDatabase('postgres://nobody@127.0.0.1:1/none', logger, 1);
  const redis = connectPatient('redis://127.0.0.1:1', logger);
  const writer = new AuditWriter({ redis, keys: new RedisKeys('test'), database, retentionDays: 1, logger });
  while (redis.status !== 'reconnecting') await sleep(1);
  const late = sleep(5_000, 'late', { ref: false });
  expect(await Promise.race([writer.stop().then(() => 'stopped'), late])).toBe('stopped');
  await database.$client.end();
});
