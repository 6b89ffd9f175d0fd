import { randomUUID } from 'node:crypto';
import { expect, inject, onTestFinished, test } from 'vitest';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { startLiveStream } from '../live/live-world.ts';
import { connectTexts } from './levels-client.ts';
import { askWs, call, KEY, type RpcResponse, rpcClient } from './rpc-client.ts';
import { startedRpcWorld } from './rpc-world.ts';

/* Calls that read pools count for their client as batches of quotes, however they come. */

const { world, pools } = startedRpcWorld();
const ANONYMOUS = 6;
const KEYED = 12;

async function startLimited() {
  const quota = (requests: number) => ({ requests, windowSecs: 600 });
  const limits = LimitsConfig.parse({ batch: { anonymous: quota(ANONYMOUS), keyed: quota(KEYED) } });
  const api = await startLiveStream(world, {
    limits,
    sharedBy: { redisUrl: inject('redisUrl'), prefix: randomUUID() },
  });
  onTestFinished(() => api.stop());
  return rpcClient(() => `${new URL(api.base).origin}/rpc/${world.config.chainId}`);
}

const LIMITED = -32_005;
const quote = (id: unknown) => {
  const [pool] = world.market.pools;
  return call('titan_getPammQuoteVenue', [pool?.address, pool?.token0, pool?.token1, '0x1'], id);
};
const isLimited = ({ error }: Pick<RpcResponse, 'error'>) => error?.code === LIMITED;

test('each quote of a POST counts in the limit of the address, the first one with the POST', async () => {
  const { post } = await startLimited();
  const ask = async () => {
    const response = await post(Array.from({ length: 4 }, (_, id) => quote(id)));
    return { status: response.status, limited: ((await response.json()) as RpcResponse[]).filter(isLimited).length };
  };
  expect(await ask()).toEqual({ status: 200, limited: 0 });
  // Two are left.
  const batch = (await (await post([quote(1), quote(2), quote(3), call('pamm_status')])).json()) as RpcResponse[];
  expect(batch.map(isLimited)).toEqual([false, false, true, false]);
  const refused = await post(quote(1));
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: LIMITED } });
  const keyed = await post([quote(1), quote(2), call('pamm_getPammPriceLevels', [{ pamms: pools() }], 3)], KEY);
  expect(((await keyed.json()) as RpcResponse[]).map(isLimited)).toEqual([false, false, false]);
  expect(keyed.headers.get('RateLimit')).toContain(`r=${KEYED - 1}`);
  expect((await post(call('pamm_status'), KEY)).headers.get('RateLimit')).toContain(`r=${KEYED - 4}`);
});

test('calls with keys that are not valid count against the address', async () => {
  const { post } = await startLimited();
  const headers = [{ 'X-Api-Key': 'bad' }, { Authorization: 'worse' }, { Authorization: 'Bearer ' }, {}];
  for (const [index, sent] of headers.entries()) {
    const response = await post(call('pamm_status'), sent);
    expect(response.headers.get('RateLimit')).toContain(`r=${ANONYMOUS - 1 - index};`);
  }
});

test('over several WebSockets of an address, quotes and levels of named pools count in its limit, nothing else does', async () => {
  const { url } = await startLimited();
  const [one, other] = [await connectTexts(url()), await connectTexts(url())];
  // Each handshake counted. Four are left.
  expect(isLimited(await askWs(one, quote('q1')))).toBe(false);
  expect(isLimited(await askWs(other, quote('q2')))).toBe(false);
  const levels = (id: string) => call('pamm_getPammPriceLevels', [{ pamms: pools() }], id);
  expect(isLimited(await askWs(other, levels('l1')))).toBe(false);
  expect(isLimited(await askWs(one, call('pamm_getPammStateOverrides', [], 'o1')))).toBe(false);
  expect(isLimited(await askWs(one, quote('q3')))).toBe(false);
  for (const [client, id] of [
    [one, 'q4'],
    [other, 'q5'],
  ] as const)
    expect(await askWs(client, quote(id))).toMatchObject({ error: { code: LIMITED } });
  expect(isLimited(await askWs(other, levels('l2')))).toBe(true);
  expect((await askWs(one, call('pamm_status', [], 's1'))).error).toBeUndefined();
});
