import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { startRedis } from '../../local/services/redis.ts';
import { createLogger } from '../../runtime/logger.ts';
import { startPamm } from './start-pamm.ts';

const EVENTUALLY = { interval: 100 };

test('warns while Redis hangs, and while it is unreachable, until it answers', async () => {
  const redis = await startRedis();
  const pamm = startPamm({
    chains: new Map(),
    env: {},
    redisUrl: redis.url,
    queuePrefix: 'test',
    metrics: new Registry(),
    logger: createLogger('test', 'silent'),
  });
  const expectWarnings = (names: readonly string[]) =>
    vi.waitFor(async () => expect(Object.keys(await pamm.warnings())).toEqual(names), EVENTUALLY);
  await expectWarnings([]);
  process.kill(redis.pid(), 'SIGSTOP');
  await expectWarnings(['redis']);
  process.kill(redis.pid(), 'SIGCONT');
  await expectWarnings([]);
  await redis.stop();
  await expectWarnings(['redis']);
  await pamm.stop();
});
