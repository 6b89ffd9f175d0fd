import { beforeEach, expect, test } from 'vitest';
import type { Behaviour } from '../../devnet/mock-builders/behaviour.ts';
import { startedWorld } from '../harness/open-world.ts';
import { type BundleRig, skip, startBundleBuilder } from './bundle-rig.ts';
import { eventually } from './eventually.ts';
import { stopWallClock } from './stopped-clock.ts';

/** When and for how long the bundle builder's endpoint pauses, over HTTP from end to end. */

const builder = startedWorld(startBundleBuilder);
const clock = stopWallClock();
let bundles: BundleRig;

beforeEach(async () => {
  bundles = await builder.nextRig();
  return () => bundles.rig.stop();
});

const pauseOf = ({ error = '' }) => Number(/^skipped: the endpoint is backing off for (\d+) ms more$/.exec(error)?.[1]);

/** A push that fails, and what the next one hears of the pause. */
async function pauseAfter(behaviour: Behaviour) {
  const { state } = builder.mocks.bundle;
  const before = state.received.length;
  state.behaviour = behaviour;
  const failed = await bundles.answer(await bundles.push());
  state.behaviour = { kind: 'ack' };
  const leftMs = pauseOf(await bundles.answer(await bundles.push()));
  return { failed, leftMs, received: state.received.length - before };
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
  const { failed, leftMs, received } = await pauseAfter(behaviour);
  expect(failed).toEqual({ accepted: false, error });
  expect(leftMs).toBe(pauseMs);
  expect(received).toBe(1);
  clock.pass(pauseMs - 1);
  expect(pauseOf(await bundles.answer(await bundles.push()))).toBe(1);
  clock.pass(1);
  expect(await bundles.answer(await bundles.push())).toMatchObject({ accepted: true });
});

test('it pauses after a timeout of 3 seconds, which skips the pushes that wait', async () => {
  builder.mocks.bundle.state.behaviour = { kind: 'hanging' };
  const [silent, waiting] = [
    await bundles.push({ responseTimeoutMs: 0 }),
    await bundles.push({ responseTimeoutMs: 0 }),
  ];
  const startedAt = performance.now();
  await bundles.answer(silent);
  await eventually(() => builder.mocks.bundle.state.received.length === 1);
  await bundles.answer(waiting);
  const timedOut = await eventually(() => bundles.outcome(silent));
  expect(timedOut).toMatchObject({ outcome: 'rejected', error: 'the builder did not answer in time' });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(2_990);
  const skipped = await eventually(() => bundles.outcome(waiting));
  expect(skipped).toMatchObject({
    outcome: 'skipped',
    error: skip('the endpoint is backing off for 500 ms more').error,
  });
  expect(bundles.sentTxs()).toEqual([silent.tx]);
});

test('each failure in a row pauses it for longer each time, until a success', async () => {
  const pauses: number[] = [];
  for (let failures = 0; failures < 8; failures += 1) {
    const { leftMs } = await pauseAfter({ kind: 'http-status', status: 500 });
    pauses.push(leftMs);
    clock.pass(leftMs);
  }
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(await bundles.answer(await bundles.push())).toMatchObject({ accepted: true });
  expect((await pauseAfter({ kind: 'http-status', status: 500 })).leftMs).toBe(500);
});
