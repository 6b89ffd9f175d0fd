import { Queue } from 'bullmq';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeBigints } from '../../runtime/json.ts';
import { eventually } from './eventually.ts';
import { holdAcks } from './hold-acks.ts';
import { ETHEREUM, type PammAnswer, type PammBody } from './rig.ts';
import { newUuid, signedTx, submissionOf } from './sample-updates.ts';
import { stopWallClock } from './stopped-clock.ts';
import { pammWorld } from './world.ts';

/** What the quote streams do, over HTTP from end to end. */

const { rig, mocks } = pammWorld();
const clock = stopWallClock();
let tx: string;
let otherTx: string;

beforeAll(async () => {
  [tx, otherTx] = [await signedTx(ETHEREUM, 1), await signedTx(ETHEREUM, 2)];
});

beforeEach(async () => {
  mocks.titan.state.behaviour = { kind: 'ack' };
  mocks.quasar.state.behaviour = { kind: 'ack' };
  const answered = () => submit({ responseTimeoutMs: 1_000 });
  await eventually(async () => (await answered()).providers.every(({ accepted }) => accepted), 20_000);
});

async function submit(changes: Partial<PammBody>): Promise<PammAnswer> {
  const body = { tx, blockNumber: 7, replacementUuid: newUuid(), replacementSeqNumber: 1, ...changes };
  return rig.submit(ETHEREUM, body);
}

const sent = (uuid: string) =>
  mocks.titan.state.received
    .filter(({ replacementUuid }) => replacementUuid === uuid)
    .map(({ replacementSeqNumber, tx }) => (tx === '0x' ? `cancel ${replacementSeqNumber}` : replacementSeqNumber));

const titanOutcomes = async (uuid: string) =>
  (await rig.outcomes(uuid)).filter(({ provider }) => provider.startsWith('titan:'));

const OLDER = 'skipped: older than a quote already seen for this stream';
const SUPERSEDED = 'skipped: superseded by a newer quote before sending';

/** Breaks Titan's connection; it is refused until the behaviour changes. A worker that dials again has noticed. */
async function disconnect(): Promise<void> {
  const { state } = mocks.titan;
  const before = state.refusals;
  state.behaviour = { kind: 'http-status', status: 503 };
  mocks.titan.breakConnections();
  await eventually(() => state.refusals > before);
}

test('several updates are in flight at once, each answered by its own acknowledgement', async () => {
  const replacementUuid = newUuid();
  const release = holdAcks(mocks.titan);
  const first = submit({ replacementUuid });
  await eventually(() => sent(replacementUuid).length === 1);
  mocks.titan.state.behaviour = { kind: 'reject', error: 'only the second' };
  const second = await submit({ replacementUuid, replacementSeqNumber: 2 });
  expect(second.providers[0]).toMatchObject({ accepted: false, error: 'only the second' });
  release();
  expect((await first).providers[0]).toMatchObject({ accepted: true });
  expect((await titanOutcomes(replacementUuid)).map(({ outcome }) => outcome)).toEqual(['rejected', 'accepted']);
});

test('a silent builder holds up neither its own later updates nor another builder', async () => {
  mocks.titan.state.behaviour = { kind: 'hanging' };
  const uuids = Array.from({ length: 30 }, newUuid);
  await Promise.all(uuids.map((replacementUuid) => submit({ replacementUuid, responseTimeoutMs: 0 })));
  for (const uuid of uuids) {
    await eventually(() => sent(uuid).length > 0);
    const outcomes = await eventually(async () => {
      const all = await rig.outcomes(uuid);
      return all.length > 0 && all;
    });
    expect(outcomes).toMatchObject([{ provider: `quasar:${mocks.quasar.streamUrl}`, outcome: 'accepted' }]);
  }
});

test('a job that the queue runs again is answered without sending its update again', async () => {
  const replacementUuid = newUuid();
  const submission = submissionOf({ chainId: ETHEREUM, replacementUuid });
  const queue = new Queue(mocks.endpointId('titan'), { connection: rig.redis, prefix: rig.keys.prefix });
  for (const times of [1, 2]) {
    await queue.add('update', JSON.parse(encodeBigints(submission)));
    const accepted = async () =>
      (await rig.redis.xrange(rig.keys.audit(), '-', '+')).filter(
        ([, [, entry]]) => entry?.includes(submission.id) && entry.includes('"accepted"'),
      );
    await eventually(async () => (await accepted()).length === times);
  }
  await queue.close();
  expect(sent(replacementUuid)).toEqual(['1']);
});

describe('order', () => {
  test('a higher sequence number replaces, whatever its block; a lower one is skipped', async () => {
    const replacementUuid = newUuid();
    for (const [seq, block] of [
      [5, 10],
      [6, 9],
    ] as const) {
      const answer = await submit({ replacementUuid, replacementSeqNumber: seq, blockNumber: block });
      expect(answer.accepted).toBe(true);
    }
    const late = await submit({ replacementUuid, replacementSeqNumber: 5, blockNumber: 99 });
    expect(late).toMatchObject({ accepted: false, providers: [{ error: OLDER }, { error: OLDER }] });
    expect(sent(replacementUuid)).toEqual(['5', '6']);
  });

  test('the same update may come again; another one under its number is older', async () => {
    const replacementUuid = newUuid();
    await submit({ replacementUuid });
    expect((await submit({ replacementUuid })).accepted).toBe(true);
    expect((await submit({ replacementUuid, tx: otherTx })).providers[0]?.error).toBe(OLDER);
    expect(sent(replacementUuid)).toEqual(['1', '1']);
  });

  test('a cancel removes the quote, and nothing at or below it follows', async () => {
    const replacementUuid = newUuid();
    await submit({ replacementUuid, replacementSeqNumber: 5 });
    expect((await submit({ replacementUuid, replacementSeqNumber: 6, tx: '0x' })).accepted).toBe(true);
    expect((await submit({ replacementUuid, replacementSeqNumber: 6 })).providers[0]?.error).toBe(OLDER);
    expect((await submit({ replacementUuid, replacementSeqNumber: 7 })).accepted).toBe(true);
    expect(sent(replacementUuid)).toEqual(['5', 'cancel 6', '7']);
  });

  test('sequence numbers that a double would round are distinguished', async () => {
    const replacementUuid = newUuid();
    const send = (replacementSeqNumber: bigint) => submit({ replacementUuid, replacementSeqNumber });
    expect((await send(9007199254740993n)).accepted).toBe(true);
    expect((await send(9007199254740992n)).providers[0]?.error).toBe(OLDER);
    expect((await send(18446744073709551615n)).accepted).toBe(true);
    expect(sent(replacementUuid)).toEqual(['9007199254740993', '18446744073709551615']);
  });
});

describe('while the connection is broken', () => {
  test('only the newest update of a uuid is kept, and sent once it is back', async () => {
    const [replaced, cancelled] = [newUuid(), newUuid()];
    await disconnect();
    const queue = (changes: Partial<PammBody>) => submit({ ...changes, responseTimeoutMs: 0 });
    await Promise.all(
      [1, 2, 3].map((replacementSeqNumber) => queue({ replacementUuid: replaced, replacementSeqNumber })),
    );
    await queue({ replacementUuid: cancelled });
    await queue({ replacementUuid: cancelled, replacementSeqNumber: 2, tx: '0x' });
    mocks.titan.state.behaviour = { kind: 'ack' };
    await eventually(async () => (await titanOutcomes(replaced)).length === 3);
    await eventually(async () => (await titanOutcomes(cancelled)).length === 2);
    expect(sent(replaced)).toEqual(['3']);
    expect(sent(cancelled)).toEqual(['cancel 2']);
  });

  test('a replaced update is reported as superseded', async () => {
    const replacementUuid = newUuid();
    await disconnect();
    const first = submit({ replacementUuid });
    const newest = () => rig.redis.get(rig.keys.newestUpdate(ETHEREUM, replacementUuid));
    const before = await eventually(async () => (await newest()) ?? false);
    const second = submit({ replacementUuid, replacementSeqNumber: 2 });
    await eventually(async () => (await newest()) !== before);
    mocks.titan.state.behaviour = { kind: 'ack' };
    expect((await first).providers[0]).toMatchObject({ accepted: false, error: SUPERSEDED });
    expect((await second).providers[0]).toMatchObject({ accepted: true });
  });

  test('an update with no more than 500 ms of its 3 seconds left is dropped; one with more is sent', async () => {
    const [early, late] = [newUuid(), newUuid()];
    await disconnect();
    await submit({ replacementUuid: early, responseTimeoutMs: 0 });
    clock.pass(1);
    await submit({ replacementUuid: late, responseTimeoutMs: 0 });
    clock.pass(2_499);
    const dropped = await eventually(async () => (await titanOutcomes(early))[0]);
    expect(dropped.outcome).toBe('dropped');
    mocks.titan.state.behaviour = { kind: 'ack' };
    await eventually(() => sent(late).length === 1);
    expect(sent(early)).toEqual([]);
  });
});

describe('a connection is replaced when the builder', () => {
  const connections = () => mocks.titan.state.connections;

  test('closes it; what was not acknowledged is sent again', async () => {
    const replacementUuid = newUuid();
    mocks.titan.state.behaviour = { kind: 'close-after', messages: 0 };
    const before = connections();
    const answer = submit({ replacementUuid });
    // It is sent once more at each new connection: a slow look finds several.
    await eventually(() => sent(replacementUuid).length > 0);
    mocks.titan.state.behaviour = { kind: 'ack' };
    expect((await answer).providers[0]).toMatchObject({ accepted: true });
    expect(sent(replacementUuid).length).toBeGreaterThan(1);
    expect(new Set(sent(replacementUuid))).toEqual(new Set(['1']));
    expect(connections()).toBeGreaterThan(before);
  });

  test('acknowledges nothing for as long as an update may take', async () => {
    mocks.titan.state.behaviour = { kind: 'hanging' };
    const before = connections();
    const replacementUuid = newUuid();
    await submit({ replacementUuid, responseTimeoutMs: 0 });
    await eventually(() => sent(replacementUuid).length === 1);
    clock.pass(3_250);
    await eventually(() => connections() > before);
  });
});
