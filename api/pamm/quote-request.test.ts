import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../test/pamm/eventually.ts';
import { holdAcks } from '../../test/pamm/hold-acks.ts';
import { expiry, outcome } from '../../test/pamm/quote-bodies.ts';
import { API_KEY, BSC, ETHEREUM, type PammAnswer, startApi } from '../../test/pamm/rig.ts';
import { newUuid } from '../../test/pamm/sample-updates.ts';
import { pammWorld } from '../../test/pamm/world.ts';

const { redis, mocks, rig, bodies } = pammWorld();

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

/** Longer than any deadline, which the server counts from the headers on: real time alone ends it. */
const LATE_MS = 700;

describe('the response deadline', () => {
  let prompt: Awaited<ReturnType<typeof startApi>>;

  beforeAll(async () => {
    prompt = await startApi(redis.url, mocks, rig.keys.prefix);
  });
  afterAll(() => prompt.stop());
  afterEach(() => {
    mocks.titan.state.behaviour = { kind: 'ack' };
    mocks.quasar.state.behaviour = { kind: 'ack' };
  });

  test.each([
    ['no timeout', {}, 500],
    ['one above 500 ms', { responseTimeoutMs: 5_000 }, 500],
    ['a lower one', { responseTimeoutMs: 200 }, 200],
  ])('with %s is kept, from arrival on; a slower builder is pending', async (_name, changes, limitMs) => {
    onTestFinished(holdAcks(mocks.titan));
    // The client's own share is in it, and what other work takes: a response without much of both shows the deadline.
    await eventually(async () => {
      const startedAt = performance.now();
      const { data, response } = await prompt.send(ETHEREUM, bodies.ethereum(changes));
      const tookMs = performance.now() - startedAt;
      // A process that stands still queues nothing in time.
      if (response.status === 503) return false;
      expect(tookMs).toBeGreaterThan(limitMs - 20);
      expect(data?.providers[0]).toEqual({
        provider: `titan:${mocks.titan.streamUrl}`,
        accepted: false,
        pending: true,
      });
      return tookMs < limitMs + 100;
    });
  });

  test('leaves the answers of the faster builders in the response', async () => {
    onTestFinished(holdAcks(mocks.titan));
    await eventually(async () => {
      const { accepted, providers } = await rig.submit(ETHEREUM, bodies.ethereum({ responseTimeoutMs: 500 }));
      expect(providers[0]?.pending).toBe(true);
      return accepted && providers[1]?.accepted;
    });
  });

  test('0 answers as soon as the update is queued, and it is delivered all the same', async () => {
    const replacementUuid = newUuid();
    onTestFinished(holdAcks(mocks.titan));
    onTestFinished(holdAcks(mocks.quasar));
    const response = await rig.post(ETHEREUM, bodies.ethereum({ replacementUuid, responseTimeoutMs: 0 }));
    expect(await response.json()).toMatchObject({ accepted: false, providers: [{ pending: true }, { pending: true }] });
    await eventually(() => mocks.titan.state.received.some((update) => update.replacementUuid === replacementUuid));
  });

  test('does not make a failure of an update whose body comes after it: it is queued, and all are pending', async () => {
    onTestFinished(holdAcks(mocks.titan));
    const body = JSON.stringify(bodies.ethereum());
    // On a busy machine queueing takes its time.
    await eventually(async () => {
      const request = httpRequest(`${prompt.base}/public/v1/evm/${ETHEREUM}/pamm-quote`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${API_KEY}`,
          'Content-Type': 'application/json',
          'Content-Length': body.length,
        },
      });
      request.flushHeaders();
      // biome-ignore lint/plugin: the body comes late.
      await sleep(LATE_MS);
      request.end(body);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      const answer = (await json(response)) as PammAnswer;
      if (response.statusCode !== 200) return false;
      expect(answer.providers[0]).toMatchObject({ accepted: false, pending: true });
      return true;
    });
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
  });
});
