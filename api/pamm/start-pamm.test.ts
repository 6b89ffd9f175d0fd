import { Redis } from 'ioredis';
import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { chainEndpoints } from '../../builders/submit/endpoints.ts';
import { RedisKeys } from '../../builders/submit/queue/redis-keys.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { PammConfig } from '../../config/pamm-schema.ts';
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

test('warns of a builder that no worker serves, as where only the API has its new chains file', async () => {
  const redis = await startRedis();
  const builders = ['one', 'two'].map((id) => ({ id, transport: 'quote-stream', url: `ws://127.0.0.1/${id}` }));
  const chain = { chainId: 1, pamm: PammConfig.parse({ kind: 'ethereum', builders }) } as unknown as ChainConfig;
  const metrics = new Registry();
  const pamm = startPamm({
    chains: new Map([[1, chain]]),
    env: {},
    redisUrl: redis.url,
    queuePrefix: 'test',
    metrics,
    logger: createLogger('test', 'silent'),
  });
  const [one, two] = chainEndpoints(chain, {}).map(({ id }) => id);
  const client = new Redis(redis.url);
  const shown = async () => [await pamm.warnings(), /^pamm_worker_missing (\d)/m.exec(await metrics.metrics())?.[1]];
  const keys = new RedisKeys('test');
  await client.set(keys.lease(String(one)), '1');
  const builder = `no builders worker serves ${two}: their quote updates stay pending`;
  await vi.waitFor(async () => expect(await shown()).toEqual([{ builders: builder }, '1']), EVENTUALLY);
  await client.set(keys.lease(String(two)), '1');
  expect(await shown()).toEqual([{}, '0']);
  client.disconnect();
  await pamm.stop();
  await redis.stop();
});
