import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BundleState } from '../../builders/bundle/bundle-state.ts';
import { newUuid, signedTx, submissionOf } from '../../builders/testing/updates.ts';
import type { Behaviour } from '../../devnet/mock-builders/behaviour.ts';
import { createRedisDatabase, type TestRedis } from '../harness/redis.ts';
import { eventually } from './eventually.ts';
import { BSC, type Mocks, type PammAnswer, type PammBody, type Rig, startMocks, startRig } from './rig.ts';

/** The rules of the bundle builder, over HTTP from end to end. */

let redis: TestRedis;
let mocks: Mocks;
let rig: Rig;
let nonce = 0;

beforeAll(async () => {
  [redis, mocks] = await Promise.all([createRedisDatabase(), startMocks()]);
});

// A pause or a waiting push of one test must not reach into the next.
beforeEach(async () => {
  mocks.bundle.state.behaviour = { kind: 'ack' };
  mocks.bundle.state.received.length = 0;
  rig = await startRig(redis.url, mocks);
  return () => rig.stop();
});

afterAll(() => Promise.all([mocks.stop(), redis.drop()]));

const inSeconds = (secs: number) => Math.floor(Date.now() / 1000) + secs;

/** A live push with a transaction of its own. */
async function push(changes: Partial<PammBody> = {}): Promise<PammBody> {
  return {
    tx: await signedTx(BSC, nonce++),
    blockNumber: 100,
    replacementUuid: newUuid(),
    replacementSeqNumber: 1,
    maxTimestamp: inSeconds(4),
    ...changes,
  };
}

/** Posts a body and gives what the bundle builder's entry says. */
async function bundleAnswer(body: PammBody): Promise<Omit<PammAnswer['providers'][number], 'provider'>> {
  const answer = await rig.submit(BSC, body);
  const [, entry] = answer.providers;
  if (entry?.provider !== `bundle:${mocks.bundle.bundleUrl}`)
    throw new Error(`no bundle entry: ${JSON.stringify(answer)}`);
  const { provider: _, ...said } = entry;
  return said;
}

const skip = (reason: string) => ({ accepted: false, error: `skipped: ${reason}` });
const OLDER = skip('older than a quote already seen for this stream');
const DUPLICATE = skip('this quote is already queued or being sent');
const SUPERSEDED = skip('superseded by a newer quote before sending');
const sentTxs = () => mocks.bundle.state.received.map(({ tx }) => tx);

/** Holds the builder with one request, so that later pushes wait; they are acknowledged at once. */
async function occupy(delayMs = 1_500): Promise<PammBody> {
  mocks.bundle.state.behaviour = { kind: 'slow-ack', delayMs };
  const flying = await push({ responseTimeoutMs: 0 });
  await bundleAnswer(flying);
  await eventually(() => sentTxs().includes(flying.tx));
  mocks.bundle.state.behaviour = { kind: 'ack' };
  return flying;
}

test('a push is sent as the first bundle of its block, with the key, and its hash comes back', async () => {
  const body = await push({ blockNumber: 123 });
  expect(await bundleAnswer(body)).toEqual({ accepted: true, bundleHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  expect(mocks.bundle.state.received).toMatchObject([
    {
      message: { txs: [body.tx], maxBlockNumber: '123', maxTimestamp: body.maxTimestamp, positionFirst: true },
    },
  ]);
  expect(mocks.bundle.state.authorizations.at(-1)).toBe('bundle-secret');
});

test('without maxTimestamp the stream builder gets it and the bundle builder is skipped', async () => {
  const { maxTimestamp: _, ...body } = await push();
  const answer = await rig.submit(BSC, body);
  expect(answer.providers.map(({ accepted }) => accepted)).toEqual([true, false]);
  expect(answer.providers[1]?.error).toBe('skipped: the request had no maxTimestamp');
  expect(sentTxs()).toEqual([]);
});

test('a maxTimestamp that has passed skips the bundle builder only', async () => {
  const answer = await rig.submit(BSC, await push({ maxTimestamp: inSeconds(-2) }));
  expect(answer.providers.map(({ accepted }) => accepted)).toEqual([true, false]);
  expect(answer.providers[1]?.error).toBe('skipped: maxTimestamp passed while queued');
});

test('a push whose maxTimestamp passes while it waits is skipped', async () => {
  const flying = await occupy();
  const waiting = await push({ maxTimestamp: inSeconds(1) });
  expect(await bundleAnswer(waiting)).toEqual(skip('maxTimestamp passed while queued'));
  expect(sentTxs()).toEqual([flying.tx]);
});

test('one request is in flight; of each uuid only the newest push waits and is sent next', async () => {
  await occupy();
  const [a, b] = [newUuid(), newUuid()];
  const first = await push({ replacementUuid: a });
  const answerToFirst = bundleAnswer(first);
  await eventually(async () => Boolean(await rig.redis.hexists(waitingKey(), a)));
  const other = await push({ replacementUuid: b, responseTimeoutMs: 0 });
  await bundleAnswer(other);
  const newer = await push({ replacementUuid: a, replacementSeqNumber: 2, responseTimeoutMs: 0 });
  await bundleAnswer(newer);
  expect(mocks.bundle.state.received).toHaveLength(1);
  expect(await answerToFirst).toEqual(SUPERSEDED);
  await eventually(() => mocks.bundle.state.received.length === 3);
  expect(sentTxs().slice(1)).toEqual([newer.tx, other.tx]);
});

describe('a cancel', () => {
  test('never reaches the builder, removes the waiting push and recalls nothing in flight', async () => {
    await occupy();
    const waiting = await push({ replacementSeqNumber: 3 });
    const answerToWaiting = bundleAnswer(waiting);
    await eventually(async () => Boolean(await rig.redis.hexists(waitingKey(), waiting.replacementUuid)));
    const cancel = { ...waiting, tx: '0x', replacementSeqNumber: 4 };
    expect(await bundleAnswer(cancel)).toEqual(skip('the request was a cancel'));
    expect(await answerToWaiting).toEqual(SUPERSEDED);
    const next = await push();
    expect(await bundleAnswer(next)).toMatchObject({ accepted: true });
    expect(sentTxs().slice(1)).toEqual([next.tx]);
  });

  test('guards against live quotes at or below its sequence number, even of a higher block', async () => {
    const live = await push({ replacementSeqNumber: 5 });
    await bundleAnswer({ ...live, tx: '0x' });
    for (const [seq, block] of [
      [5, 100],
      [4, 101],
      [5, 999],
    ] as const) {
      const late = await push({ replacementUuid: live.replacementUuid, replacementSeqNumber: seq, blockNumber: block });
      expect(await bundleAnswer(late)).toEqual(OLDER);
    }
    const next = await push({ replacementUuid: live.replacementUuid, replacementSeqNumber: 6 });
    expect(await bundleAnswer(next)).toMatchObject({ accepted: true });
  });
});

test('a push older than one seen is ignored, and a higher block always counts as newer', async () => {
  const replacementUuid = newUuid();
  const send = async (blockNumber: number, replacementSeqNumber: number) =>
    bundleAnswer(await push({ replacementUuid, blockNumber, replacementSeqNumber }));
  expect(await send(100, 5)).toMatchObject({ accepted: true });
  expect(await send(100, 4)).toEqual(OLDER);
  expect(await send(99, 6)).toEqual(OLDER);
  expect(await send(101, 6)).toMatchObject({ accepted: true });
  // Lower in sequence but of a later block: the stream refuses it, the bundle builder gets it.
  expect(await send(102, 1)).toMatchObject({ accepted: true });
});

describe('a quote that comes again', () => {
  test('gets the earlier result when it was accepted, without being sent again', async () => {
    const body = await push();
    const first = await bundleAnswer(body);
    expect(await bundleAnswer(body)).toEqual(first);
    expect(await bundleAnswer({ ...body, replacementSeqNumber: 2 })).toEqual(first);
    expect(await bundleAnswer({ ...body, replacementUuid: newUuid() })).toEqual(first);
    expect(sentTxs()).toEqual([body.tx]);
  });

  test('is skipped while its earlier copy is in flight, or waits', async () => {
    const flying = await occupy();
    expect(await bundleAnswer(flying)).toEqual(DUPLICATE);
    const waiting = await push({ responseTimeoutMs: 0 });
    expect(await bundleAnswer(waiting)).toMatchObject({ pending: true });
    expect(await bundleAnswer(waiting)).toEqual(DUPLICATE);
    await eventually(() => mocks.bundle.state.received.length === 2);
    expect(sentTxs()).toEqual([flying.tx, waiting.tx]);
  });
});

test('the 257th uuid to wait is skipped; one that waits already may still replace its push', async () => {
  await occupy(2_900);
  const state = new BundleState(rig.redis, rig.keys, mocks.endpointId('bundle'));
  const waiting = Array.from({ length: 256 }, () =>
    submissionOf({ chainId: BSC, replacementUuid: newUuid(), maxTimestamp: BigInt(inSeconds(4)) }),
  );
  const offers = await Promise.all(
    waiting.map((submission) => state.offer(submission, submission.update.maxTimestamp ?? 0n, Date.now())),
  );
  expect(new Set(offers.map(({ verdict }) => verdict))).toEqual(new Set(['queued']));
  expect(await bundleAnswer(await push({ responseTimeoutMs: 0 }))).toEqual(skip('the bundle queue is full'));
  const replacementUuid = waiting[3]?.update.replacementUuid ?? '';
  const newer = await push({ replacementUuid, replacementSeqNumber: 2, responseTimeoutMs: 0 });
  expect(await bundleAnswer(newer)).toMatchObject({ pending: true });
  expect(await rig.redis.hlen(waitingKey())).toBe(256);
});

test.each([-38000, -32000])('a builder that already holds the bundle (code %i) has accepted it', async (code) => {
  mocks.bundle.state.behaviour = {
    kind: 'already-known',
    code,
    message: code === -38000 ? 'x' : 'Bundle Already Known',
  };
  expect(await bundleAnswer(await push())).toEqual({ accepted: true });
});

test('a rejection has the words of the builder and pauses nothing', async () => {
  mocks.bundle.state.behaviour = { kind: 'reject', error: 'bundle simulation failed' };
  expect(await bundleAnswer(await push())).toEqual({ accepted: false, error: 'bundle simulation failed' });
  mocks.bundle.state.behaviour = { kind: 'ack' };
  expect(await bundleAnswer(await push())).toMatchObject({ accepted: true });
});

describe('the endpoint pauses after', () => {
  const pauseOf = ({ error = '' }) =>
    Number(/^skipped: the endpoint is backing off for (\d+) ms more$/.exec(error)?.[1]);

  /**
   * A push that fails, and what the next one hears of the pause; false when that was over by then, as a short one may be
   * on a busy machine. The success of the second push has then ended the row of failures.
   */
  async function pauseAfter(behaviour: Behaviour) {
    const before = mocks.bundle.state.received.length;
    mocks.bundle.state.behaviour = behaviour;
    const startedAt = performance.now();
    const failed = await bundleAnswer(await push());
    mocks.bundle.state.behaviour = { kind: 'ack' };
    const next = await bundleAnswer(await push());
    const tookMs = performance.now() - startedAt;
    const received = mocks.bundle.state.received.length - before;
    return !next.accepted && { failed, left: pauseOf(next), tookMs, received };
  }

  test.each([
    ['a transport error', { kind: 'close-after', messages: 0 }, 'transport error: UND_ERR_SOCKET', 500],
    ['an authentication failure', { kind: 'http-status', status: 401 }, 'the builder answered with HTTP 401', 500],
    ['a server error', { kind: 'http-status', status: 502 }, 'the builder answered with HTTP 502', 500],
    ['429', { kind: 'too-many-requests' }, 'the builder answered with HTTP 429', 500],
    ['429 with a wait', { kind: 'too-many-requests', retryAfter: '7' }, 'the builder answered with HTTP 429', 7_000],
    [
      '429 with a long wait',
      { kind: 'too-many-requests', retryAfter: '90' },
      'the builder answered with HTTP 429',
      30_000,
    ],
  ] as const)('%s', async (_name, behaviour, error, pauseMs) => {
    const { failed, left, tookMs, received } = await eventually(() => pauseAfter(behaviour), 20_000);
    expect(failed).toEqual({ accepted: false, error });
    // Of the pause is gone at most what has passed since before the request that failed.
    expect(left).toBeGreaterThanOrEqual(pauseMs - Math.ceil(tookMs) - 1);
    expect(left).toBeLessThanOrEqual(pauseMs);
    expect(received).toBe(1);
  });

  test('a timeout of 3 seconds, which skips the pushes that wait', async () => {
    mocks.bundle.state.behaviour = { kind: 'silent' };
    const [silent, waiting] = [await push({ responseTimeoutMs: 0 }), await push({ responseTimeoutMs: 0 })];
    await bundleAnswer(silent);
    await eventually(() => mocks.bundle.state.received.length === 1);
    await bundleAnswer(waiting);
    const timedOut = await eventually(() => bundleOutcome(silent));
    expect(timedOut).toMatchObject({ outcome: 'rejected', error: 'the builder did not answer in time' });
    expect(timedOut.answeredAtMs - timedOut.receivedAtMs).toBeGreaterThanOrEqual(2_990);
    const skipped = await eventually(() => bundleOutcome(waiting));
    expect(skipped).toMatchObject({
      outcome: 'skipped',
      error: skip('the endpoint is backing off for 500 ms more').error,
    });
    expect(skipped.answeredAtMs).toBeGreaterThanOrEqual(timedOut.answeredAtMs);
    expect(sentTxs()).toEqual([silent.tx]);
  });

  test('each failure in a row, for longer each time, until a success', async () => {
    mocks.bundle.state.behaviour = { kind: 'http-status', status: 500 };
    await eventually(async () => pauseOf(await bundleAnswer(await push())) > 1_000, 30_000);
    mocks.bundle.state.behaviour = { kind: 'ack' };
    await eventually(async () => (await bundleAnswer(await push())).accepted, 30_000);
    const { left } = await eventually(() => pauseAfter({ kind: 'http-status', status: 500 }), 20_000);
    expect(left).toBeLessThanOrEqual(500);
  });
});

/** How a push ended at the bundle builder, once it has. */
async function bundleOutcome({ replacementUuid }: PammBody) {
  const outcomes = await rig.outcomes(replacementUuid);
  return outcomes.find(({ provider }) => provider.startsWith('bundle:'));
}

const waitingKey = () => rig.keys.bundle(mocks.endpointId('bundle')).waiting;
