import { Queue } from 'bullmq';
import { beforeEach, describe, expect, test } from 'vitest';
import { BundleState } from '../../builders/submit/bundle/bundle-state.ts';
import { encodeBigints } from '../../runtime/json.ts';
import { startedWorld } from '../harness/open-world.ts';
import { type BundleRig, inSeconds, skip, startBundleBuilder } from './bundle-rig.ts';
import { eventually } from './eventually.ts';
import { BSC, type Rig } from './rig.ts';
import { newUuid, submissionOf } from './sample-updates.ts';
import { stopWallClock } from './stopped-clock.ts';

/** The rules of the bundle builder but for its pauses, over HTTP from end to end. */

const OLDER = skip('older than a quote already seen for this stream');
const DUPLICATE = skip('this quote is already queued or being sent');
const SUPERSEDED = skip('superseded by a newer quote before sending');

const builder = startedWorld(startBundleBuilder);
const clock = stopWallClock();
let bundles: BundleRig;
let rig: Rig;

beforeEach(async () => {
  bundles = await builder.nextRig();
  ({ rig } = bundles);
  return () => bundles.rig.stop();
});

test('a push is sent as the first bundle of its block, with the key, and its hash comes back', async () => {
  const body = await bundles.push({ blockNumber: 123 });
  expect(await bundles.answer(body)).toEqual({ accepted: true, bundleHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  expect(builder.mocks.bundle.state.received).toMatchObject([
    {
      message: { txs: [body.tx], maxBlockNumber: '123', maxTimestamp: body.maxTimestamp, positionFirst: true },
    },
  ]);
  expect(builder.mocks.bundle.state.authorizations.at(-1)).toBe('bundle-secret');
});

test('without maxTimestamp the stream builder gets it and the bundle builder is skipped', async () => {
  const { maxTimestamp: _, ...body } = await bundles.push();
  const answer = await rig.submit(BSC, body);
  expect(answer.providers.map(({ accepted }) => accepted)).toEqual([true, false, true]);
  expect(answer.providers[1]?.error).toBe('skipped: the request had no maxTimestamp');
  expect(bundles.sentTxs()).toEqual([]);
});

test('a maxTimestamp that has passed skips the bundle builder only', async () => {
  const answer = await rig.submit(BSC, await bundles.push({ maxTimestamp: inSeconds(-2) }));
  expect(answer.providers.map(({ accepted }) => accepted)).toEqual([true, false, true]);
  expect(answer.providers[1]?.error).toBe('skipped: maxTimestamp passed while queued');
});

test('a push whose maxTimestamp passes while it waits is skipped', async () => {
  const { flying, release } = await bundles.occupy();
  const waiting = await bundles.push({ maxTimestamp: inSeconds(1) });
  const answer = bundles.answer(waiting);
  await bundles.waits(waiting);
  clock.pass(1_001);
  release();
  expect(await answer).toEqual(skip('maxTimestamp passed while queued'));
  expect(bundles.sentTxs()).toEqual([flying.tx]);
});

test('one request is in flight; of each uuid only the newest push waits and is sent next', async () => {
  const { release } = await bundles.occupy();
  const [a, b] = [newUuid(), newUuid()];
  const first = await bundles.push({ replacementUuid: a });
  const answerToFirst = bundles.answer(first);
  await bundles.waits(first);
  const other = await bundles.push({ replacementUuid: b, responseTimeoutMs: 0 });
  await bundles.answer(other);
  const newer = await bundles.push({ replacementUuid: a, replacementSeqNumber: 2, responseTimeoutMs: 0 });
  await bundles.answer(newer);
  expect(builder.mocks.bundle.state.received).toHaveLength(1);
  expect(await answerToFirst).toEqual(SUPERSEDED);
  release();
  await eventually(() => builder.mocks.bundle.state.received.length === 3);
  expect(bundles.sentTxs().slice(1)).toEqual([newer.tx, other.tx]);
});

describe('a cancel', () => {
  test('never reaches the builder, removes the waiting push and recalls nothing in flight', async () => {
    const { release } = await bundles.occupy();
    const waiting = await bundles.push({ replacementSeqNumber: 3 });
    const answerToWaiting = bundles.answer(waiting);
    await bundles.waits(waiting);
    const cancel = { ...waiting, tx: '0x', replacementSeqNumber: 4 };
    expect(await bundles.answer(cancel)).toEqual(skip('the request was a cancel'));
    expect(await answerToWaiting).toEqual(SUPERSEDED);
    release();
    const next = await bundles.push();
    expect(await bundles.answer(next)).toMatchObject({ accepted: true });
    expect(bundles.sentTxs().slice(1)).toEqual([next.tx]);
  });

  test('guards against live quotes at or below its sequence number, even of a higher block', async () => {
    const live = await bundles.push({ replacementSeqNumber: 5 });
    await bundles.answer({ ...live, tx: '0x' });
    for (const [seq, block] of [
      [5, 100],
      [4, 101],
      [5, 999],
    ] as const) {
      const late = await bundles.push({
        replacementUuid: live.replacementUuid,
        replacementSeqNumber: seq,
        blockNumber: block,
      });
      expect(await bundles.answer(late)).toEqual(OLDER);
    }
    const next = await bundles.push({ replacementUuid: live.replacementUuid, replacementSeqNumber: 6 });
    expect(await bundles.answer(next)).toMatchObject({ accepted: true });
  });
});

test('a push older than one seen is ignored, and a higher block always counts as newer', async () => {
  const replacementUuid = newUuid();
  const send = async (blockNumber: number, replacementSeqNumber: number) =>
    bundles.answer(await bundles.push({ replacementUuid, blockNumber, replacementSeqNumber }));
  expect(await send(100, 5)).toMatchObject({ accepted: true });
  expect(await send(100, 4)).toEqual(OLDER);
  expect(await send(99, 6)).toEqual(OLDER);
  expect(await send(101, 6)).toMatchObject({ accepted: true });
  // Lower in sequence but of a later block: the stream refuses it, the bundle builder gets it.
  expect(await send(102, 1)).toMatchObject({ accepted: true });
});

describe('a quote that comes again', () => {
  test('gets the earlier result when it was accepted, without being sent again', async () => {
    const body = await bundles.push();
    const first = await bundles.answer(body);
    expect(await bundles.answer(body)).toEqual(first);
    expect(await bundles.answer({ ...body, replacementSeqNumber: 2 })).toEqual(first);
    expect(await bundles.answer({ ...body, replacementUuid: newUuid() })).toEqual(first);
    expect(bundles.sentTxs()).toEqual([body.tx]);
  });

  test('is skipped while its earlier copy is in flight, or waits', async () => {
    const { flying, release } = await bundles.occupy();
    expect(await bundles.answer(flying)).toEqual(DUPLICATE);
    const waiting = await bundles.push({ responseTimeoutMs: 0 });
    expect(await bundles.answer(waiting)).toMatchObject({ pending: true });
    expect(await bundles.answer(waiting)).toEqual(DUPLICATE);
    release();
    await eventually(() => builder.mocks.bundle.state.received.length === 2);
    expect(bundles.sentTxs()).toEqual([flying.tx, waiting.tx]);
  });
});

test('a push whose process died before it queued the job is sent when it comes again', async () => {
  const push = submissionOf({ chainId: BSC, replacementUuid: newUuid(), maxTimestamp: BigInt(inSeconds(4)) });
  const { replacementUuid } = push.update;
  await new BundleState(rig.redis, rig.keys, builder.mocks.endpointId('bundle')).enqueue(push, Date.now());
  const again = await bundles.push({ replacementUuid });
  expect(await bundles.answer(again)).toEqual(DUPLICATE);
  await eventually(() => bundles.sentTxs().includes(again.tx));
});

test('the 257th uuid to wait is skipped; one that waits already may still replace its push', async () => {
  const { release } = await bundles.occupy();
  const state = new BundleState(rig.redis, rig.keys, builder.mocks.endpointId('bundle'));
  const waiting = Array.from({ length: 256 }, () =>
    submissionOf({ chainId: BSC, replacementUuid: newUuid(), maxTimestamp: BigInt(inSeconds(4)) }),
  );
  const enqueued = await Promise.all(waiting.map((submission) => state.enqueue(submission, Date.now())));
  expect(new Set(enqueued.map(({ answer }) => answer))).toEqual(new Set([undefined]));
  expect(await bundles.answer(await bundles.push({ responseTimeoutMs: 0 }))).toEqual(skip('the bundle queue is full'));
  const replacementUuid = waiting[3]?.update.replacementUuid ?? '';
  const newer = await bundles.push({ replacementUuid, replacementSeqNumber: 2, responseTimeoutMs: 0 });
  expect(await bundles.answer(newer)).toMatchObject({ pending: true });
  expect(await rig.redis.hlen(bundles.waitingKey)).toBe(256);
  release();
});

test.each([-38000, -32000])('a builder that already holds the bundle (code %i) has accepted it', async (code) => {
  builder.mocks.bundle.state.behaviour = {
    kind: 'already-known',
    code,
    message: code === -38000 ? 'x' : 'Bundle Already Known',
  };
  expect(await bundles.answer(await bundles.push())).toEqual({ accepted: true });
});

test('a rejection has the error message of the builder and pauses nothing', async () => {
  builder.mocks.bundle.state.behaviour = { kind: 'reject', error: 'bundle simulation failed' };
  expect(await bundles.answer(await bundles.push())).toEqual({ accepted: false, error: 'bundle simulation failed' });
  builder.mocks.bundle.state.behaviour = { kind: 'ack' };
  expect(await bundles.answer(await bundles.push())).toMatchObject({ accepted: true });
});

test('what an API process of release 0.2 queued is sent, once', async () => {
  const push = submissionOf({ chainId: BSC, replacementUuid: newUuid(), maxTimestamp: BigInt(inSeconds(4)) });
  const endpointId = builder.mocks.endpointId('bundle');
  await rig.redis.hset(rig.keys.bundle(endpointId).submissions, push.update.replacementUuid, encodeBigints(push));
  const queue = new Queue(endpointId, { connection: rig.redis, prefix: rig.keys.prefix });
  await queue.addBulk([1, 2].map(() => ({ name: 'update', data: {} })));
  const next = await bundles.push();
  expect(await bundles.answer(next)).toMatchObject({ accepted: true });
  expect(bundles.sentTxs()).toEqual([push.update.tx, next.tx]);
  await queue.close();
});
