import { beforeAll, expect, test } from 'vitest';
import { startRedis } from '../../local/services/redis.ts';
import { startedWorld } from '../harness/open-world.ts';
import { eventually } from './eventually.ts';
import { ETHEREUM, SHORT_LEASE_MS, startMocks, startRig } from './rig.ts';
import { newUuid, signedTx } from './sample-updates.ts';
import { startTcpProxy } from './tcp-proxy.ts';

/** The machine of Redis vanishes silently and another takes its address: no connection is closed. */

const redis = startedWorld(startRedis);
const mocks = startedWorld(startMocks);
const proxy = startedWorld(() => {
  const { hostname, port } = new URL(redis.url);
  return startTcpProxy(hostname, Number(port));
});
const rig = startedWorld(() => {
  const url = new URL(redis.url);
  url.port = String(proxy.port);
  return startRig(url.href, mocks, { leaseMs: SHORT_LEASE_MS });
});
let tx: string;
beforeAll(async () => {
  tx = await signedTx(ETHEREUM);
});

const isAccepted = async () => {
  const body = { tx, blockNumber: 7, replacementUuid: newUuid(), replacementSeqNumber: 1, responseTimeoutMs: 2_000 };
  const { data } = await rig.send(ETHEREUM, body);
  return data?.providers.every(({ accepted }) => accepted) ?? false;
};

test('API and worker drop connections that do not respond, and continue over new ones', {
  timeout: 180_000,
}, async () => {
  await eventually(isAccepted, 30_000);
  proxy.silence();
  expect(await isAccepted()).toBe(false);
  await eventually(isAccepted, 90_000);
});
