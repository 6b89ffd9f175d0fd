import { Worker } from 'bullmq';
import { beforeAll, describe, expect, test } from 'vitest';
import { startedWorld } from '../harness/open-world.ts';
import { BundleRig, inSeconds } from './bundle-rig.ts';
import { eventually } from './eventually.ts';
import { queueSubmission } from './queue-submission.ts';
import { BSC, ETHEREUM, SHORT_LEASE_MS, startApi } from './rig.ts';
import { newUuid, submissionOf } from './sample-updates.ts';
import { pammWorld } from './world.ts';

/** Several API processes and workers that share one Redis act as one service. */

const { rig, mocks, bodies, redis } = pammWorld({ leaseMs: SHORT_LEASE_MS });
/** Another replica of the rig's API. */
const replica = startedWorld(() => startApi(redis.url, mocks, rig.keys.prefix, { responseTimeoutMs: 20_000 }));

const OLDER = { accepted: false, error: 'skipped: older than a quote already seen for this stream' };

describe('two API replicas', () => {
  // An update is dropped that waits for the first connection to a builder for longer than updates may take.
  beforeAll(async () => {
    const answered = () => rig.submit(BSC, bodies.bsc({ blockNumber: 28, responseTimeoutMs: 1_000 }));
    await eventually(async () => (await answered()).providers.every(({ accepted }) => accepted), 20_000);
    mocks.bundle.state.received.length = 0;
  });

  test('judge an update by what the other has taken', async () => {
    const body = bodies.bsc({ replacementSeqNumber: 5 });
    const first = await rig.submit(BSC, body);
    expect(first.providers.map(({ accepted }) => accepted)).toEqual([true, true, true]);
    const again = await replica.submit(BSC, body);
    expect(again.providers[1]).toEqual(first.providers[1]);
    expect(again.providers[2]).toMatchObject({ accepted: false, error: 'stale seq' });
    const older = await replica.submit(BSC, { ...body, replacementSeqNumber: 4, blockNumber: 6 });
    expect(older.providers).toMatchObject([OLDER, OLDER, OLDER]);
    const cancelled = await replica.submit(BSC, { ...body, replacementSeqNumber: 6, tx: '0x' });
    for (const index of [0, 2]) expect(cancelled.providers[index]).toMatchObject({ accepted: true });
    const late = await rig.submit(BSC, { ...body, replacementSeqNumber: 6, blockNumber: 8 });
    expect(late.providers).toMatchObject([OLDER, OLDER, OLDER]);
    expect(mocks.bundle.state.received).toHaveLength(1);
  });

  test('tell a client what an update at the other did to its own', async () => {
    const bundles = new BundleRig(rig, mocks);
    const { release } = await bundles.occupy();
    const waiting = bodies.bsc({ blockNumber: 21 });
    const answer = rig.submit(BSC, waiting);
    await bundles.waits(waiting);
    await replica.submit(BSC, { ...waiting, replacementSeqNumber: 2, blockNumber: 22, responseTimeoutMs: 0 });
    release();
    expect((await answer).providers[1]).toMatchObject({
      accepted: false,
      error: 'skipped: superseded by a newer quote before sending',
    });
  });
});

describe('a worker whose endpoint another has taken over', () => {
  /** How long the other holds the endpoint. */
  const OTHERS_MS = 1_000;

  test.each([
    ['quote stream', 'titan', ETHEREUM, 30n],
    ['bundle', 'bundle', BSC, 31n],
    ['relayer', 'relayer', BSC, 32n],
  ] as const)('sends nothing over the %s until it holds it again', async (_transport, builder, chainId, block) => {
    const bodyOf = chainId === BSC ? bodies.bsc : bodies.ethereum;
    // Once this is answered nothing is in flight any more.
    expect((await rig.submit(chainId, bodyOf({ blockNumber: 29 }))).accepted).toBe(true);
    const takenAtMs = Date.now();
    await rig.redis.set(rig.keys.lease(mocks.endpointId(builder)), 'another', 'PX', OTHERS_MS);
    const update = { chainId, blockNumber: block, replacementUuid: newUuid(), maxTimestamp: BigInt(inSeconds(60)) };
    await queueSubmission(rig, mocks, builder, submissionOf(update, Date.now() + 30_000));
    const sent = () => mocks[builder].state.received.filter(({ blockNumber }) => blockNumber === String(block));
    await eventually(() => sent().length > 0);
    expect(sent()).toHaveLength(1);
    expect(Number(sent()[0]?.atNs) / 1e6).toBeGreaterThan(takenAtMs + OTHERS_MS - 10);
  });

  test('leaves a bundle to it, even if it is idle', async () => {
    const endpointId = mocks.endpointId('bundle');
    const taken = Promise.withResolvers<void>();
    const connection = rig.redis.duplicate();
    const other = new Worker(endpointId, async () => taken.resolve(), { connection, prefix: rig.keys.prefix });
    await other.waitUntilReady();
    await rig.redis.set(rig.keys.lease(endpointId), 'another', 'PX', 600_000);
    await rig.submit(BSC, bodies.bsc({ blockNumber: 40, responseTimeoutMs: 0 }));
    // It looks after some seconds by itself, if the worker that gives up the endpoint was woken in its place.
    await taken.promise;
    await other.close();
    connection.disconnect();
  });
});
