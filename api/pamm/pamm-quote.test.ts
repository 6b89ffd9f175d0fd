import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { signedTx } from '../../test/pamm/sample-updates.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { tooManyRequests } from '../errors.ts';
import { type PammDeps, pammResource } from './pamm-quote.ts';

const CHAIN_ID = 1;

/** An app that takes updates of one key, which may count so many more. */
function appOf(left: number) {
  const counted: number[] = [];
  const submitted: unknown[] = [];
  const deps = {
    chains: new Map([[CHAIN_ID, { chainId: CHAIN_ID, pamm: { kind: 'ethereum' } }]]),
    endpoints: new Map([[CHAIN_ID, [{}]]]),
    submit: async (update: unknown) => {
      submitted.push(update);
      return [];
    },
    wallClock: () => 0,
  } as unknown as PammDeps;
  const app = new Hono();
  app.onError((_, c) => c.text('', 429));
  app.use(async (c, next) => {
    c.set('key', { keyId: 'key', holder: 'key' });
    c.set('arrivedAtMs', 0);
    c.set('countMore', async () => {
      if (counted.push(1) > left) throw tooManyRequests(1_000);
    });
    await next();
  });
  for (const { handler } of bindRoutes(pammResource, deps)) app.post('/:chain_id', handler);
  const post = async (size: number) => {
    const body = {
      tx: await signedTx(CHAIN_ID),
      blockNumber: 1,
      replacementUuid: '00'.repeat(16),
      replacementSeqNumber: 1,
    };
    const padded = {
      ...body,
      padding: ' '.repeat(Math.max(0, size - JSON.stringify({ ...body, padding: '' }).length)),
    };
    const headers = { 'Content-Type': 'application/json' };
    return (await app.request(`/${CHAIN_ID}`, { method: 'POST', headers, body: JSON.stringify(padded) })).status;
  };
  return { post, counted, submitted };
}

test.each([
  [1_000, 0],
  [16 * 1024 - 1, 0],
  [16 * 1024, 1],
  [250 * 1024, 15],
])('an update of %i bytes counts as %i more', async (size, more) => {
  const { post, counted, submitted } = appOf(15);
  expect(await post(size)).toBe(200);
  expect([counted.length, submitted.length]).toEqual([more, 1]);
});

test('one that is more than is left is not submitted', async () => {
  const { post, submitted } = appOf(1);
  expect(await post(48 * 1024)).toBe(429);
  expect(submitted).toEqual([]);
});
