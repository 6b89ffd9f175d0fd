import { beforeAll, expect, test } from 'vitest';
import { startRedis } from '../../local/services/redis.ts';
import { startedWorld } from '../harness/open-world.ts';
import { eventually } from './eventually.ts';
import { ETHEREUM, SHORT_LEASE_MS, startApi, startMocks, startRig } from './rig.ts';
import { newUuid, signedTx } from './sample-updates.ts';

/** What clients see while Redis is down, hangs, or comes back without its data. */

const redis = startedWorld(startRedis);
const mocks = startedWorld(startMocks);
const rig = startedWorld(() => startRig(redis.url, mocks, { leaseMs: SHORT_LEASE_MS }));
let tx: string;
beforeAll(async () => {
  tx = await signedTx(ETHEREUM);
});

const bodyOf = (replacementUuid: string, replacementSeqNumber: number) => ({
  tx,
  blockNumber: 7,
  replacementUuid,
  replacementSeqNumber,
});

const post = (...update: Parameters<typeof bodyOf>) => rig.send(ETHEREUM, bodyOf(...update));

const accepted = (replacementUuid: string, seq: number) =>
  eventually(async () => {
    const { data } = await rig.send(ETHEREUM, { ...bodyOf(replacementUuid, seq), responseTimeoutMs: 1_000 });
    return data?.providers.every((provider) => provider.accepted) ?? false;
  }, 30_000);

test('503 at once while Redis is down, other endpoints answer, and order holds when it comes back empty', async () => {
  const uuid = newUuid();
  await accepted(uuid, 10);

  await rig.redis.set('marker', '1');
  await redis.kill();
  await eventually(async () => (await post(newUuid(), 1)).response.status === 503);
  const startedAt = performance.now();
  const rejected = await post(newUuid(), 1);
  // At once: this API would wait for as long as 20 seconds.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect([rejected.response.status, rejected.error]).toEqual([503, { error: 'Service temporarily unavailable' }]);
  expect((await fetch(`${rig.base}/openapi.json`)).status).toBe(200);
  expect((await post(newUuid(), 0)).response.status).toBe(400);

  await redis.restart();
  expect(await rig.redis.exists('marker')).toBe(0);
  await accepted(newUuid(), 1);
  // Redis knows nothing of sequence 10 any more; the worker that sent it does.
  const { data: late } = await post(uuid, 9);
  const error = 'skipped: superseded by a newer quote before sending';
  expect(late?.providers).toMatchObject([
    { accepted: false, error },
    { accepted: false, error },
  ]);
  const sequence = mocks.titan.state.received.filter((update) => update.replacementUuid === uuid);
  expect(sequence.map(({ replacementSeqNumber }) => replacementSeqNumber)).not.toContain('9');
}, 180_000);

test('503 within the deadline while Redis hangs', async () => {
  const prompt = await startApi(redis.url, mocks, rig.keys.prefix);
  process.kill(redis.pid(), 'SIGSTOP');
  try {
    // On a busy machine the client's own share may be long, too.
    await eventually(async () => {
      const startedAt = performance.now();
      const { response, error } = await prompt.send(ETHEREUM, bodyOf(newUuid(), 1));
      expect([response.status, error]).toEqual([503, { error: 'Service temporarily unavailable' }]);
      return performance.now() - startedAt < 600;
    });
  } finally {
    process.kill(redis.pid(), 'SIGCONT');
  }
  await accepted(newUuid(), 1);
  await prompt.stop();
}, 180_000);
