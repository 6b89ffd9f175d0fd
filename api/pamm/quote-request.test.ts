import { numberToHex, parseTransaction, serializeTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newUuid, signedTx } from '../../builders/testing/updates.ts';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { createRedisDatabase, type TestRedis } from '../../test/harness/redis.ts';
import { eventually } from '../../test/pamm/eventually.ts';
import {
  BSC,
  ETHEREUM,
  type Mocks,
  type PammAnswer,
  type Rig,
  startApi,
  startMocks,
  startRig,
} from '../../test/pamm/rig.ts';

let redis: TestRedis;
let mocks: Mocks;
let rig: Rig;
let ethereumTx: string;
let bscTx: string;

beforeAll(async () => {
  [redis, mocks, ethereumTx, bscTx] = await Promise.all([
    createRedisDatabase(),
    startMocks(),
    signedTx(ETHEREUM),
    signedTx(BSC),
  ]);
  rig = await startRig(redis.url, mocks);
  await eventually(() => mocks.titan.state.connections > 0 && mocks.stream.state.connections > 0);
});

afterAll(async () => {
  await rig.stop();
  await Promise.all([mocks.stop(), redis.drop()]);
});

const expiry = () => Math.floor(Date.now() / 1000) + 4;
const ethereumBody = (changes: Record<string, unknown> = {}) => ({
  tx: ethereumTx,
  blockNumber: 7,
  replacementUuid: newUuid(),
  replacementSeqNumber: 1,
  quoteAddress: `0x${'AA'.repeat(20)}`,
  poolAddresses: [`0x${'bb'.repeat(20)}`, 'cc'.repeat(20)],
  assetPairs: [`0x${'dd'.repeat(40)}`],
  ...changes,
});
const bscBody = (changes: Record<string, unknown> = {}) => ({
  tx: bscTx,
  blockNumber: 7,
  replacementUuid: newUuid(),
  replacementSeqNumber: 1,
  maxTimestamp: expiry(),
  ...changes,
});

async function outcome(response: Response): Promise<[number, unknown]> {
  const text = await response.text();
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
  return [response.status, isJson ? JSON.parse(text) : text];
}

describe('who may ask, and for what chain', () => {
  test.each([
    ['no key', { Authorization: '' }],
    ['an unknown key', { Authorization: 'Bearer nobody' }],
  ])('401 for %s', async (_name, headers) => {
    const response = await rig.post(ETHEREUM, ethereumBody(), headers);
    expect(await outcome(response)).toEqual([401, { error: 'Invalid API key' }]);
  });

  test('401 when the header is missing', async () => {
    const url = `${rig.base}/public/v1/evm/${ETHEREUM}/pamm-quote`;
    expect(await outcome(await fetch(url, { method: 'POST' }))).toEqual([401, { error: 'Invalid API key' }]);
  });

  test('404 for a chain that is not served', async () => {
    expect(await outcome(await rig.post(999, ethereumBody()))).toEqual([404, { error: 'Unknown chainId: 999' }]);
  });

  test('400 for another served chain', async () => {
    expect(await outcome(await rig.post(8453, ethereumBody()))).toEqual([
      400,
      { error: 'chain_id 8453 takes no quote updates' },
    ]);
  });

  test('400 for a chain id that is no number', async () => {
    expect((await rig.post('x', ethereumBody())).status).toBe(400);
  });

  test('503 for chain 1 without builders, once the request itself is right', async () => {
    const body = ethereumBody({ tx: await signedTx(1) });
    expect(await outcome(await rig.post(1, body))).toEqual([503, { error: 'Service temporarily unavailable' }]);
    expect((await rig.post(1, { ...body, replacementSeqNumber: 0 })).status).toBe(400);
  });
});

test('429 with the wait beyond the limit, but still 401 without a key', async () => {
  const limits = LimitsConfig.parse({
    pamm: { anonymous: { requests: 1, windowSecs: 60 }, keyed: { requests: 1, windowSecs: 60 } },
  });
  const limited = await startApi(redis.url, mocks, 'limited', { limits });
  try {
    expect((await limited.post(999, {})).status).toBe(404);
    // Until the limiter's connection is up, requests are counted in memory and once more in Redis.
    const refused = await eventually(async () => {
      const response = await limited.post(999, {});
      return response.status === 429 && response;
    });
    expect([...(await outcome(refused)), Number(refused.headers.get('Retry-After')) > 0]).toEqual([
      429,
      { error: 'Too many requests' },
      true,
    ]);
    const url = `${limited.base}/public/v1/evm/${ETHEREUM}/pamm-quote`;
    for (const _ of [1, 2, 3]) expect((await fetch(url, { method: 'POST' })).status).toBe(401);
  } finally {
    await limited.stop();
  }
});

describe('a body that cannot be read is answered in plain text', () => {
  test.each(['text/plain', '', 'application/x-www-form-urlencoded', 'application/jsonp'])(
    '415 for %j',
    async (type) => {
      const [status, body] = await outcome(await rig.post(ETHEREUM, ethereumBody(), { 'Content-Type': type }));
      expect([status, body]).toEqual([415, 'Expected request with `Content-Type: application/json`']);
    },
  );

  test('a charset beside the media type is fine', async () => {
    const headers = { 'Content-Type': 'application/json; charset=utf-8' };
    expect((await rig.post(ETHEREUM, ethereumBody(), headers)).status).toBe(200);
  });

  test.each(['{"tx":', '', 'nonsense', '{"a":1}}'])('400 for malformed JSON %j', async (text) => {
    const [status, body] = await outcome(await rig.post(ETHEREUM, text));
    expect([status, typeof body]).toEqual([400, 'string']);
    expect(body).toMatch(/^Invalid request body: /);
  });

  test.each(['tx', 'blockNumber', 'replacementUuid', 'replacementSeqNumber'])('422 without %s', async (field) => {
    const response = await rig.post(ETHEREUM, ethereumBody({ [field]: undefined }));
    expect(await outcome(response)).toEqual([422, `Invalid request body: missing field ${field}`]);
  });

  test.each([
    ['tx', 5],
    ['tx', null],
    ['blockNumber', '7'],
    ['blockNumber', -1],
    ['blockNumber', 1.5],
    ['replacementSeqNumber', true],
    ['replacementUuid', {}],
    ['disableCrossRegionSharing', 'yes'],
    ['responseTimeoutMs', 'soon'],
    ['maxTimestamp', '5'],
    ['quoteAddress', 7],
    ['poolAddresses', '0xbb'],
    ['assetPairs', [5]],
  ])('422 for %s of the wrong type (%j)', async (field, value) => {
    const [status, body] = await outcome(await rig.post(ETHEREUM, ethereumBody({ [field]: value })));
    expect([status, typeof body]).toEqual([422, 'string']);
    expect(body).toContain(field);
  });

  test.each(['[]', '"x"', 'null', '5'])('422 for a body that is no object (%s)', async (text) => {
    expect(await outcome(await rig.post(ETHEREUM, text))).toEqual([422, 'Invalid request body: must be an object']);
  });

  test('422 for an integer above uint64', async () => {
    const text = JSON.stringify(ethereumBody()).replace('"blockNumber":7', '"blockNumber":18446744073709551616');
    expect((await rig.post(ETHEREUM, text)).status).toBe(422);
  });
});

describe('400 names the field whose value is wrong', () => {
  const seconds = () => Math.floor(Date.now() / 1000);
  test.each<[string, number, () => Record<string, unknown>, string]>([
    ['tx that is no hex', ETHEREUM, () => ({ tx: '0xzz' }), 'tx is not valid hex'],
    ['tx of half a byte', ETHEREUM, () => ({ tx: '0xabc' }), 'tx is not valid hex'],
    ['an empty tx', ETHEREUM, () => ({ tx: '' }), 'tx is empty: a cancel is 0x'],
    ['tx that is no transaction', ETHEREUM, () => ({ tx: '0x1234' }), 'tx is not a signed transaction'],
    ['tx with bytes after its end', ETHEREUM, () => ({ tx: `${ethereumTx}00` }), 'tx is not a signed transaction'],
    [
      'tx of another chain',
      ETHEREUM,
      () => ({ tx: bscTx }),
      `tx is signed for chain ${BSC}, not for chain ${ETHEREUM}`,
    ],
    [
      'tx of another chain on BSC',
      BSC,
      () => ({ tx: ethereumTx }),
      `tx is signed for chain ${ETHEREUM}, not for chain ${BSC}`,
    ],
    ['a short uuid', ETHEREUM, () => ({ replacementUuid: '0x1234' }), 'replacementUuid must be 16 bytes of hex'],
    [
      'a uuid with dashes',
      ETHEREUM,
      () => ({ replacementUuid: '00000000-0000-0000-0000-000000000001' }),
      'replacementUuid is not valid hex',
    ],
    ['sequence number 0', ETHEREUM, () => ({ replacementSeqNumber: 0 }), 'replacementSeqNumber must be above 0'],
    ['a short quoteAddress', ETHEREUM, () => ({ quoteAddress: '0x12' }), 'quoteAddress must be 20 bytes of hex'],
    [
      'a bad pool',
      ETHEREUM,
      () => ({ poolAddresses: [`0x${'bb'.repeat(20)}`, '0x'] }),
      'poolAddresses[1] must be 20 bytes of hex',
    ],
    ['a bad pair', ETHEREUM, () => ({ assetPairs: [`0x${'bb'.repeat(20)}`] }), 'assetPairs[0] must be 40 bytes of hex'],
    ['maxTimestamp 0', ETHEREUM, () => ({ maxTimestamp: 0 }), 'maxTimestamp must be above 0'],
    ['maxTimestamp 0 on BSC', BSC, () => ({ maxTimestamp: 0 }), 'maxTimestamp must be above 0'],
    [
      'maxTimestamp in ms',
      ETHEREUM,
      () => ({ maxTimestamp: Date.now() }),
      'maxTimestamp must be in seconds, not milliseconds',
    ],
    [
      'maxTimestamp in ms of a BSC cancel',
      BSC,
      () => ({ tx: '0x', maxTimestamp: Date.now() }),
      'maxTimestamp must be in seconds, not milliseconds',
    ],
    [
      'maxTimestamp too far',
      BSC,
      () => ({ maxTimestamp: seconds() + 7 }),
      'maxTimestamp must be at most 5 seconds ahead',
    ],
    ['block 0 of a live BSC quote', BSC, () => ({ blockNumber: 0 }), 'blockNumber must be above 0 for a live quote'],
  ])('%s', async (_name, chainId, changes, error) => {
    const body = chainId === BSC ? bscBody(changes()) : ethereumBody(changes());
    expect(await outcome(await rig.post(chainId, body))).toEqual([400, { error }]);
  });

  test('a transaction without a chain, without a signature, and with a broken one', async () => {
    const signer = privateKeyToAccount(`0x${'33'.repeat(32)}`);
    const unprotected = await signer.signTransaction({ type: 'legacy', gas: 21_000n, gasPrice: 1n, nonce: 0 });
    const fields = { type: 'eip1559', chainId: ETHEREUM, gas: 21_000n, to: signer.address } as const;
    const unsigned = serializeTransaction(fields);
    const { r, s, yParity } = parseTransaction(await signer.signTransaction(fields));
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    // The same signature in its other form, which recovers to the signer as well but which nodes refuse.
    const malleated = { r: r ?? '0x', s: numberToHex(order - BigInt(s ?? 0)), yParity: yParity === 0 ? 1 : 0 };
    // The signature is the last 66 bytes: r and s with a length byte each. An r of all ones is no point of the curve.
    const broken = `${ethereumTx.slice(0, -130)}${'ff'.repeat(32)}${ethereumTx.slice(-66)}`;
    const errors = [];
    for (const tx of [unprotected, unsigned, broken, serializeTransaction(fields, malleated)]) {
      errors.push((await outcome(await rig.post(ETHEREUM, ethereumBody({ tx }))))[1]);
    }
    expect(errors).toEqual([
      { error: 'tx is not bound to a chain (EIP-155)' },
      { error: 'tx is not signed' },
      { error: 'tx has no valid signature' },
      { error: 'tx has no valid signature' },
    ]);
  });
});

describe('a good request', () => {
  test('reaches every Ethereum builder whole, with hex in either spelling and unknown fields dropped', async () => {
    const replacementUuid = newUuid();
    const body = {
      ...ethereumBody({ disableCrossRegionSharing: true }),
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
          tx: ethereumTx,
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
    const text = JSON.stringify(ethereumBody({ replacementUuid }))
      .replace('"blockNumber":7', '"blockNumber":18446744073709551615')
      .replace('"replacementSeqNumber":1', '"replacementSeqNumber":9007199254740993');
    const raw = await (await rig.post(ETHEREUM, text)).text();
    const sent = mocks.titan.state.received.find((update) => update.replacementUuid === replacementUuid);
    expect(sent).toMatchObject({ blockNumber: '18446744073709551615', replacementSeqNumber: '9007199254740993' });
    const timestamp = /"timestampNs":(\d+)/.exec(raw)?.[1];
    expect(BigInt(timestamp ?? 0)).toBeGreaterThan(2n ** 53n);
  });

  test('on BSC ignores the Ethereum fields, whatever they hold', async () => {
    const response = await rig.post(BSC, bscBody({ quoteAddress: 'x', poolAddresses: 5, assetPairs: [[]] }));
    expect(response.status).toBe(200);
  });

  test('on Ethereum a maxTimestamp far ahead and a block number 0 are no error', async () => {
    const body = ethereumBody({ maxTimestamp: expiry() + 1_000, blockNumber: 0 });
    expect((await rig.post(ETHEREUM, body)).status).toBe(200);
  });

  test('a BSC cancel needs neither block nor expiry', async () => {
    expect((await rig.post(BSC, bscBody({ tx: '0x', blockNumber: 0, maxTimestamp: undefined }))).status).toBe(200);
    expect((await rig.post(BSC, bscBody({ tx: '0x', maxTimestamp: expiry() + 60 }))).status).toBe(200);
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
      const [, answer] = (await outcome(await rig.post(ETHEREUM, ethereumBody({ responseTimeoutMs })))) as [
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
    const response = await rig.post(ETHEREUM, ethereumBody({ replacementUuid, responseTimeoutMs: 0 }));
    expect(await response.json()).toMatchObject({ accepted: false, providers: [{ pending: true }, { pending: true }] });
    await eventually(() => mocks.titan.state.received.some((update) => update.replacementUuid === replacementUuid));
    mocks.titan.state.behaviour = { kind: 'ack' };
    mocks.quasar.state.behaviour = { kind: 'ack' };
  });

  test("a builder's rejection is 200 with its words", async () => {
    mocks.titan.state.behaviour = { kind: 'reject', error: 'invalid nonce' };
    mocks.quasar.state.behaviour = { kind: 'reject', error: 'insufficient balance' };
    const response = await rig.post(ETHEREUM, ethereumBody());
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
