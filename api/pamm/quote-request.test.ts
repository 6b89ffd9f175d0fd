import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newUuid } from '../../builders/testing/updates.ts';
import { createRedisDatabase, type TestRedis } from '../../test/harness/redis.ts';
import { eventually } from '../../test/pamm/eventually.ts';
import { createBodies, expiry, outcome } from '../../test/pamm/quote-bodies.ts';
import { BSC, ETHEREUM, type Mocks, type PammAnswer, type Rig, startMocks, startRig } from '../../test/pamm/rig.ts';

let redis: TestRedis;
let mocks: Mocks;
let rig: Rig;
let bodies: Awaited<ReturnType<typeof createBodies>>;

beforeAll(async () => {
  [redis, mocks, bodies] = await Promise.all([createRedisDatabase(), startMocks(), createBodies()]);
  rig = await startRig(redis.url, mocks);
  await eventually(() => mocks.titan.state.connections > 0 && mocks.stream.state.connections > 0);
});

afterAll(async () => {
  await rig.stop();
  await Promise.all([mocks.stop(), redis.drop()]);
});

describe('a good request', () => {
  test('reaches every Ethereum builder whole, with hex in either spelling and unknown fields dropped', async () => {
    const replacementUuid = newUuid();
    const body = {
      ...bodies.ethereum({ disableCrossRegionSharing: true }),
      replacementUuid: replacementUuid.slice(2).toUpperCase(),
      extra: { a: 1 },
    };
    const [status, answer] = (await outcome(await rig.post(ETHEREUM, body))) as [number, PammAnswer];
    expect(status).toBe(200);
    expect(answer).toEqual({
      accepted: true,
      providers: [
        { provider: `titan:${mocks.titan.streamUrl}`, accepted: true, timestampNs: expect.any(Number) },
        { provider: `quasar:${mocks.quasar.streamUrl}`, accepted: true, timestampNs: expect.any(Number) },
      ],
    });
    for (const mock of [mocks.titan, mocks.quasar]) {
      const received = mock.state.received.filter((update) => update.replacementUuid === replacementUuid);
      expect(received).toMatchObject([
        {
          tx: bodies.ethereumTx,
          blockNumber: '7',
          replacementSeqNumber: '1',
          message: {
            disableCrossRegionSharing: true,
            quoteAddress: `0x${'aa'.repeat(20)}`,
            poolAddresses: [`0x${'bb'.repeat(20)}`, `0x${'cc'.repeat(20)}`],
            assetPairs: [`0x${'dd'.repeat(40)}`],
          },
        },
      ]);
    }
  });

  test('keeps uint64 values above 2^53 exact, in and out', async () => {
    const replacementUuid = newUuid();
    const text = JSON.stringify(bodies.ethereum({ replacementUuid }))
      .replace('"blockNumber":7', '"blockNumber":18446744073709551615')
      .replace('"replacementSeqNumber":1', '"replacementSeqNumber":9007199254740993');
    const raw = await (await rig.post(ETHEREUM, text)).text();
    const sent = mocks.titan.state.received.find((update) => update.replacementUuid === replacementUuid);
    expect(sent).toMatchObject({ blockNumber: '18446744073709551615', replacementSeqNumber: '9007199254740993' });
    const timestamp = /"timestampNs":(\d+)/.exec(raw)?.[1];
    expect(BigInt(timestamp ?? 0)).toBeGreaterThan(2n ** 53n);
  });

  test('on BSC ignores the Ethereum fields, whatever they hold', async () => {
    const response = await rig.post(BSC, bodies.bsc({ quoteAddress: 'x', poolAddresses: 5, assetPairs: [[]] }));
    expect(response.status).toBe(200);
  });

  test('on Ethereum a maxTimestamp far ahead and a block number 0 are no error', async () => {
    const body = bodies.ethereum({ maxTimestamp: expiry() + 1_000, blockNumber: 0 });
    expect((await rig.post(ETHEREUM, body)).status).toBe(200);
  });

  test('a BSC cancel needs neither block nor expiry', async () => {
    expect((await rig.post(BSC, bodies.bsc({ tx: '0x', blockNumber: 0, maxTimestamp: undefined }))).status).toBe(200);
    expect((await rig.post(BSC, bodies.bsc({ tx: '0x', maxTimestamp: expiry() + 60 }))).status).toBe(200);
  });

  test('sends the key bare, and only where one is configured', () => {
    expect(mocks.titan.state.authorizations[0]).toBe('titan-secret');
    expect(mocks.quasar.state.authorizations[0]).toBeUndefined();
  });
});

describe('the response deadline', () => {
  test('a slow builder is pending at 500 ms, and a lower timeout counts from arrival', async () => {
    mocks.titan.state.behaviour = { kind: 'slow-ack', delayMs: 1_500 };
    for (const [responseTimeoutMs, low, high] of [
      [undefined, 400, 500],
      [5_000, 400, 500],
      [200, 195, 300],
    ] as const) {
      const startedAt = performance.now();
      const [, answer] = (await outcome(await rig.post(ETHEREUM, bodies.ethereum({ responseTimeoutMs })))) as [
        number,
        PammAnswer,
      ];
      const took = performance.now() - startedAt;
      expect(took).toBeGreaterThan(low);
      expect(took).toBeLessThan(high + 100); // The client's own share is in it.
      expect(answer.providers[0]).toEqual({
        provider: `titan:${mocks.titan.streamUrl}`,
        accepted: false,
        pending: true,
      });
      expect(answer).toMatchObject({ accepted: true, providers: [{}, { accepted: true }] });
    }
    mocks.titan.state.behaviour = { kind: 'ack' };
  });

  test('0 answers as soon as the update is queued, and it is delivered all the same', async () => {
    const replacementUuid = newUuid();
    mocks.titan.state.behaviour = { kind: 'slow-ack', delayMs: 1_000 };
    mocks.quasar.state.behaviour = { kind: 'slow-ack', delayMs: 1_000 };
    const response = await rig.post(ETHEREUM, bodies.ethereum({ replacementUuid, responseTimeoutMs: 0 }));
    expect(await response.json()).toMatchObject({ accepted: false, providers: [{ pending: true }, { pending: true }] });
    await eventually(() => mocks.titan.state.received.some((update) => update.replacementUuid === replacementUuid));
    mocks.titan.state.behaviour = { kind: 'ack' };
    mocks.quasar.state.behaviour = { kind: 'ack' };
  });

  test("a builder's rejection is 200 with its words", async () => {
    mocks.titan.state.behaviour = { kind: 'reject', error: 'invalid nonce' };
    mocks.quasar.state.behaviour = { kind: 'reject', error: 'insufficient balance' };
    const response = await rig.post(ETHEREUM, bodies.ethereum());
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        accepted: false,
        providers: [
          { provider: `titan:${mocks.titan.streamUrl}`, accepted: false, error: 'invalid nonce' },
          { provider: `quasar:${mocks.quasar.streamUrl}`, accepted: false, error: 'insufficient balance' },
        ],
      },
    ]);
    mocks.titan.state.behaviour = { kind: 'ack' };
    mocks.quasar.state.behaviour = { kind: 'ack' };
  });
});
