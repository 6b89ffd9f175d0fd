import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Redis, startRedis } from '../../local/services/redis.ts';
import { eventually } from './eventually.ts';
import { ETHEREUM, type Mocks, type Rig, startMocks, startRig } from './rig.ts';
import { newUuid, signedTx } from './sample-updates.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** The machine of Redis vanishes silently and another takes its address: no connection is closed. */

let redis: Redis;
let proxy: TcpProxy;
let mocks: Mocks;
let rig: Rig;
let tx: string;

beforeAll(async () => {
  [redis, mocks, tx] = await Promise.all([startRedis(), startMocks(), signedTx(ETHEREUM)]);
  const { hostname, port } = new URL(redis.url);
  proxy = await startTcpProxy(hostname, Number(port));
  const url = new URL(redis.url);
  url.port = String(proxy.port);
  rig = await startRig(url.href, mocks);
});

afterAll(async () => {
  await rig.stop();
  await proxy.stop();
  await Promise.all([mocks.stop(), redis.stop()]);
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
