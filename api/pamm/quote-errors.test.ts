import { numberToHex, parseTransaction, serializeTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { eventually } from '../../test/pamm/eventually.ts';
import { outcome } from '../../test/pamm/quote-bodies.ts';
import { BSC, ETHEREUM, startApi } from '../../test/pamm/rig.ts';
import { signedTx } from '../../test/pamm/sample-updates.ts';
import { pammWorld } from '../../test/pamm/world.ts';

/** Every row of errors that the contract lists. */

const { redis, mocks, rig, bodies } = pammWorld();

describe('who may ask, and for what chain', () => {
  test.each([
    ['no key', { Authorization: '' }],
    ['an unknown key', { Authorization: 'Bearer nobody' }],
  ])('401 for %s', async (_name, headers) => {
    const response = await rig.post(ETHEREUM, bodies.ethereum(), headers);
    expect(await outcome(response)).toEqual([401, { error: 'Invalid API key' }]);
  });

  test('401 when the header is missing', async () => {
    const url = `${rig.base}/public/v1/evm/${ETHEREUM}/pamm-quote`;
    expect(await outcome(await fetch(url, { method: 'POST' }))).toEqual([401, { error: 'Invalid API key' }]);
  });

  test('404 for a chain that is not served', async () => {
    expect(await outcome(await rig.post(999, bodies.ethereum()))).toEqual([404, { error: 'Unknown chainId: 999' }]);
  });

  test('400 for another served chain', async () => {
    expect(await outcome(await rig.post(8453, bodies.ethereum()))).toEqual([
      400,
      { error: 'chain_id 8453 takes no quote updates' },
    ]);
  });

  test('400 for a chain id that is no number', async () => {
    expect((await rig.post('x', bodies.ethereum())).status).toBe(400);
  });

  test('503 for chain 1 without builders, once the request itself is right', async () => {
    const body = bodies.ethereum({ tx: await signedTx(1) });
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
    const rejected = await eventually(async () => {
      const response = await limited.post(999, {});
      return response.status === 429 && response;
    });
    expect([...(await outcome(rejected)), Number(rejected.headers.get('Retry-After')) > 0]).toEqual([
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
      const [status, body] = await outcome(await rig.post(ETHEREUM, bodies.ethereum(), { 'Content-Type': type }));
      expect([status, body]).toEqual([415, 'Expected request with `Content-Type: application/json`']);
    },
  );

  test('a charset beside the media type is fine', async () => {
    const headers = { 'Content-Type': 'application/json; charset=utf-8' };
    expect((await rig.post(ETHEREUM, bodies.ethereum(), headers)).status).toBe(200);
  });

  test.each([
    '{"tx":',
    '',
    'unknown',
    '{"a":1}}',
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
    `{"blockNumber":${'9'.repeat(1_001)}}`,
  ])('400 for malformed JSON %j', async (text) => {
    const response = await rig.post(ETHEREUM, text);
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
    const [status, body] = await outcome(response);
    expect([status, typeof body]).toEqual([400, 'string']);
    expect(body).toMatch(/^Invalid request body: /);
  });

  test('the largest integers and the deepest bodies are read', async () => {
    const text = JSON.stringify(bodies.ethereum()).slice(0, -1);
    const extra = `${'['.repeat(31)}${'9'.repeat(100)}${']'.repeat(31)}`;
    expect((await rig.post(ETHEREUM, `${text},"extra":${extra}}`)).status).toBe(200);
  });

  test('400 for a key that an object has twice, with different values, at any depth', async () => {
    const valid = JSON.stringify(bodies.ethereum());
    const nested = { extra: [{ note: 1 }] };
    for (const [text, key] of [
      [valid.replace('"blockNumber":7', '"blockNumber":7,"blockNumber":8'), 'blockNumber'],
      [JSON.stringify(bodies.ethereum(nested)).replace('"note":1', '"note":1,"note":2'), 'note'],
    ] as const) {
      expect(await outcome(await rig.post(ETHEREUM, text))).toEqual([
        400,
        expect.stringContaining(`Invalid request body: Duplicate key '${key}' `),
      ]);
    }
  });

  test.each(['tx', 'blockNumber', 'replacementUuid', 'replacementSeqNumber'])('422 without %s', async (field) => {
    const response = await rig.post(ETHEREUM, bodies.ethereum({ [field]: undefined }));
    expect(await outcome(response)).toEqual([422, expect.stringContaining(`Invalid request body: ${field}: `)]);
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
    const [status, body] = await outcome(await rig.post(ETHEREUM, bodies.ethereum({ [field]: value })));
    expect([status, typeof body]).toEqual([422, 'string']);
    expect(body).toContain(field);
  });

  test.each(['[]', '"x"', 'null', '5'])('422 for a body that is no object (%s)', async (text) => {
    expect(await outcome(await rig.post(ETHEREUM, text))).toEqual([
      422,
      expect.stringContaining('Invalid request body: Invalid input: expected object'),
    ]);
  });

  test('422 for an integer above uint64', async () => {
    const text = JSON.stringify(bodies.ethereum()).replace('"blockNumber":7', '"blockNumber":18446744073709551616');
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
    [
      'tx with bytes after its end',
      ETHEREUM,
      () => ({ tx: `${bodies.ethereumTx}00` }),
      'tx is not a signed transaction',
    ],
    [
      'tx of another chain',
      ETHEREUM,
      () => ({ tx: bodies.bscTx }),
      `tx is signed for chain ${BSC}, not for chain ${ETHEREUM}`,
    ],
    [
      'tx of another chain on BSC',
      BSC,
      () => ({ tx: bodies.ethereumTx }),
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
      () => ({ maxTimestamp: seconds() + 60 }),
      'maxTimestamp must be at most 5 seconds ahead',
    ],
    ['block 0 of a live BSC quote', BSC, () => ({ blockNumber: 0 }), 'blockNumber must be above 0 for a live quote'],
  ])('%s', async (_name, chainId, changes, error) => {
    const body = chainId === BSC ? bodies.bsc(changes()) : bodies.ethereum(changes());
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
    const broken = `${bodies.ethereumTx.slice(0, -130)}${'ff'.repeat(32)}${bodies.ethereumTx.slice(-66)}`;
    const errors = [];
    for (const tx of [unprotected, unsigned, broken, serializeTransaction(fields, malleated)]) {
      errors.push((await outcome(await rig.post(ETHEREUM, bodies.ethereum({ tx }))))[1]);
    }
    expect(errors).toEqual([
      { error: 'tx is not bound to a chain (EIP-155)' },
      { error: 'tx is not signed' },
      { error: 'tx has no valid signature' },
      { error: 'tx has no valid signature' },
    ]);
  });
});
