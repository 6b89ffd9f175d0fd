import { beforeEach, expect, test } from 'vitest';
import type { Behaviour } from '../../devnet/mock-builders/behaviour.ts';
import { startedWorld } from '../harness/open-world.ts';
import { type BundleRig, skip, startBundleBuilder } from './bundle-rig.ts';
import { eventually } from './eventually.ts';

/** When and for how long the bundle builder's endpoint pauses, over HTTP from end to end. */

const builder = startedWorld(startBundleBuilder);
let bundles: BundleRig;

beforeEach(async () => {
  bundles = await builder.nextRig();
  return () => bundles.rig.stop();
});

const pauseOf = ({ error = '' }) => Number(/^skipped: the endpoint is backing off for (\d+) ms more$/.exec(error)?.[1]);

/**
 * A push that fails, and what the next one hears of the pause; false when that was over by then, as a short one may be
 * on a busy machine. The success of the second push has then ended the row of failures.
 */
async function pauseAfter(behaviour: Behaviour) {
  const before = builder.mocks.bundle.state.received.length;
  builder.mocks.bundle.state.behaviour = behaviour;
  const startedAt = performance.now();
  const failed = await bundles.answer(await bundles.push());
  builder.mocks.bundle.state.behaviour = { kind: 'ack' };
  const next = await bundles.answer(await bundles.push());
  const tookMs = performance.now() - startedAt;
  const received = builder.mocks.bundle.state.received.length - before;
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
] as const)('the endpoint pauses after %s', async (_name, behaviour, error, pauseMs) => {
  const { failed, left, tookMs, received } = await eventually(() => pauseAfter(behaviour), 20_000);
  expect(failed).toEqual({ accepted: false, error });
  // Of the pause is gone at most what has passed since before the request that failed.
  expect(left).toBeGreaterThanOrEqual(pauseMs - Math.ceil(tookMs) - 1);
  expect(left).toBeLessThanOrEqual(pauseMs);
  expect(received).toBe(1);
});

test('it pauses after a timeout of 3 seconds, which skips the pushes that wait', async () => {
  builder.mocks.bundle.state.behaviour = { kind: 'hanging' };
  const [silent, waiting] = [
    await bundles.push({ responseTimeoutMs: 0 }),
    await bundles.push({ responseTimeoutMs: 0 }),
  ];
  await bundles.answer(silent);
  await eventually(() => builder.mocks.bundle.state.received.length === 1);
  await bundles.answer(waiting);
  const timedOut = await eventually(() => bundles.outcome(silent));
  expect(timedOut).toMatchObject({ outcome: 'rejected', error: 'the builder did not answer in time' });
  expect(timedOut.answeredAtMs - timedOut.receivedAtMs).toBeGreaterThanOrEqual(2_990);
  const skipped = await eventually(() => bundles.outcome(waiting));
  expect(skipped).toMatchObject({
    outcome: 'skipped',
    error: skip('the endpoint is backing off for 500 ms more').error,
  });
  expect(skipped.answeredAtMs).toBeGreaterThanOrEqual(timedOut.answeredAtMs);
  expect(bundles.sentTxs()).toEqual([silent.tx]);
});

test('each failure in a row pauses it for longer each time, until a success', async () => {
  builder.mocks.bundle.state.behaviour = { kind: 'http-status', status: 500 };
  await eventually(async () => pauseOf(await bundles.answer(await bundles.push())) > 1_000, 30_000);
  builder.mocks.bundle.state.behaviour = { kind: 'ack' };
  await eventually(async () => (await bundles.answer(await bundles.push())).accepted, 30_000);
  const { left } = await eventually(() => pauseAfter({ kind: 'http-status', status: 500 }), 20_000);
  expect(left).toBeLessThanOrEqual(500);
});
