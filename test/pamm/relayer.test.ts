import { beforeEach, describe, expect, test } from 'vitest';
import { eventually } from './eventually.ts';
import { holdAcks } from './hold-acks.ts';
import { BSC, HTTP_RELAYER, type PammAnswer, type PammBody, RELAYER_KEY } from './rig.ts';
import { newUuid, signedTx } from './sample-updates.ts';
import { stopWallClock } from './stopped-clock.ts';
import { pammWorld } from './world.ts';

/** What the relayer does, as the third builder of a chain, from end to end. */

const { rig, mocks, bodies } = pammWorld();
const clock = stopWallClock();

beforeEach(async () => {
  const { state } = mocks.relayer;
  state.behaviour = { kind: 'ack' };
  state.relayer.keys = { [RELAYER_KEY]: 'maker' };
  state.relayer.head = () => 0n;
  await eventually(async () => (await submit({ responseTimeoutMs: 1_000 })).accepted, 30_000);
  state.received.length = 0;
});

type Said = Omit<PammAnswer['providers'][number], 'provider'>;

const bodyOf = (changes: Partial<PammBody> = {}): PammBody => bodies.bsc(changes);

/** Submits an update and gives what the relayer's entry says. */
async function submit(changes: Partial<PammBody> = {}): Promise<Said> {
  const { providers } = await rig.submit(BSC, bodyOf(changes));
  const { provider, ...said } = providers[2] ?? { provider: '', accepted: false };
  expect([providers.length, provider]).toEqual([3, `relayer:${mocks.relayer.relayerUrl}`]);
  return said;
}

const refused = (error: string) => ({ accepted: false, error });

const received = (uuid: string) =>
  mocks.relayer.state.received.filter(({ replacementUuid }) => replacementUuid === uuid);

const sent = (uuid: string) =>
  received(uuid).map(({ replacementSeqNumber, tx }) =>
    tx === '0x' ? `cancel ${replacementSeqNumber}` : replacementSeqNumber,
  );

const outcomes = async (uuid: string) =>
  (await rig.outcomes(uuid)).filter(({ provider }) => provider.startsWith('relayer:'));

test('it gets the update with the key, and its time comes back in nanoseconds', async () => {
  const body = bodyOf({ blockNumber: 77 });
  const before = Date.now();
  const said = await submit(body);
  expect(said).toEqual({ accepted: true, timestampNs: expect.anything() });
  expect(Math.abs(Number(said.timestampNs) / 1e6 - before)).toBeLessThan(20_000);
  expect(received(body.replacementUuid)).toMatchObject([
    {
      tx: body.tx,
      blockNumber: '77',
      replacementSeqNumber: String(body.replacementSeqNumber),
    },
  ]);
  expect(mocks.relayer.state.authorizations.at(-1)).toBe(RELAYER_KEY);
  const [outcome] = await outcomes(body.replacementUuid);
  expect(outcome).toMatchObject({ outcome: 'accepted', error: null, builderTimestampNs: String(said.timestampNs) });
});

describe('its rules', () => {
  test('a cancel bars its uuid until its last block; then it continues', async () => {
    const { replacementUuid } = bodyOf();
    const next = (replacementSeqNumber: number, changes: Partial<PammBody> = {}) =>
      submit({ replacementUuid, replacementSeqNumber, blockNumber: 40, ...changes });
    expect(await next(1)).toMatchObject({ accepted: true });
    expect(await next(2, { tx: '0x', blockNumber: 30 })).toMatchObject({ accepted: true });
    expect(await next(3)).toEqual(refused('uuid has been canceled'));
    mocks.relayer.state.relayer.head = () => 30n;
    expect(await next(4)).toMatchObject({ accepted: true });
    expect(sent(replacementUuid)).toEqual(['1', 'cancel 2', '3', '4']);
    const ended = (await outcomes(replacementUuid)).map(({ outcome, error }) => error ?? outcome);
    expect(ended).toEqual(['accepted', 'accepted', 'uuid has been canceled', 'accepted']);
  });

  test('a number that it has is stale, also of the same update', async () => {
    const body = bodyOf();
    expect(await submit(body)).toMatchObject({ accepted: true });
    expect(await submit(body)).toEqual(refused('stale seq'));
  });

  test('an update is expired on arrival whose last block has come', async () => {
    mocks.relayer.state.relayer.head = () => 7n;
    expect(await submit({ blockNumber: 7 })).toEqual(refused('quote expired on arrival'));
    expect(await submit({ blockNumber: 8 })).toMatchObject({ accepted: true });
  });

  test.each([
    [{ other: 'maker' }, 'invalid API key'],
    [{ [RELAYER_KEY]: 'taker' }, 'API key is not a maker key'],
  ] as const)('with the keys %o the answer is: %s', async (keys, error) => {
    mocks.relayer.state.relayer.keys = keys;
    expect(await submit()).toEqual(refused(error));
  });

  test('a busy relayer has the update once; the maker may send it again', async () => {
    const body = bodyOf();
    mocks.relayer.state.behaviour = { kind: 'reject', error: 'relayer busy, retry' };
    expect(await submit(body)).toEqual(refused('relayer busy, retry'));
    mocks.relayer.state.behaviour = { kind: 'ack' };
    expect(await submit(body)).toMatchObject({ accepted: true });
    expect(sent(body.replacementUuid)).toEqual(['1', '1']);
  });
});

describe('failures', () => {
  test('a slow answer delays no later update and belongs to its own', async () => {
    const { replacementUuid } = bodyOf();
    const release = holdAcks(mocks.relayer);
    const first = submit({ replacementUuid });
    await eventually(() => sent(replacementUuid).length === 1);
    mocks.relayer.state.behaviour = { kind: 'reject', error: 'only the second' };
    expect(await submit({ replacementUuid, replacementSeqNumber: 2 })).toEqual(refused('only the second'));
    release();
    expect(await first).toMatchObject({ accepted: true });
    expect((await outcomes(replacementUuid)).map(({ outcome }) => outcome)).toEqual(['rejected', 'accepted']);
  });

  test('a second answer under an id changes nothing', async () => {
    mocks.relayer.state.behaviour = { kind: 'ack-twice' };
    const body = bodyOf();
    expect(await submit(body)).toMatchObject({ accepted: true });
    expect(await submit()).toMatchObject({ accepted: true });
    expect(await outcomes(body.replacementUuid)).toHaveLength(1);
  });

  test.each(['hanging', 'garbage'] as const)('%s: the update is pending, and ends unanswered', async (kind) => {
    mocks.relayer.state.behaviour = { kind };
    const body = bodyOf({ responseTimeoutMs: 0 });
    expect(await submit(body)).toEqual({ accepted: false, pending: true });
    await eventually(() => received(body.replacementUuid).length > 0);
    clock.pass(3_250);
    const outcome = await eventually(async () => (await outcomes(body.replacementUuid))[0]);
    expect(outcome.outcome).toBe('unanswered');
  });

  test('a connection that closes: what has no answer is sent again, and only on another connection', async () => {
    mocks.relayer.state.behaviour = { kind: 'close-after', messages: 0 };
    const body = bodyOf({ responseTimeoutMs: 0 });
    await submit(body);
    await eventually(() => sent(body.replacementUuid).length > 0);
    mocks.relayer.state.behaviour = { kind: 'ack' };
    // The relayer has it, and says so.
    const outcome = await eventually(async () => (await outcomes(body.replacementUuid))[0]);
    expect(outcome).toMatchObject({ outcome: 'rejected', error: 'stale seq' });
    const connections = received(body.replacementUuid).map(({ connection }) => connection);
    expect(new Set(connections).size).toBe(connections.length);
  });

  test('while connections are refused only the newest update of a uuid is kept', async () => {
    const { state } = mocks.relayer;
    const { refusals } = state;
    state.behaviour = { kind: 'too-many-requests' };
    mocks.relayer.breakConnections();
    await eventually(() => state.refusals > refusals);
    const { replacementUuid } = bodyOf();
    for (const replacementSeqNumber of [1, 2, 3])
      await submit({ replacementUuid, replacementSeqNumber, responseTimeoutMs: 0 });
    state.behaviour = { kind: 'ack' };
    await eventually(async () => (await outcomes(replacementUuid)).length === 3);
    expect(sent(replacementUuid)).toEqual(['3']);
  });
});

describe('over HTTP', () => {
  async function post(changes: Partial<PammBody> = {}): Promise<Said> {
    const body = { tx: await signedTx(HTTP_RELAYER), blockNumber: 7, replacementUuid: newUuid(), ...changes };
    const { providers } = await rig.submit(HTTP_RELAYER, { replacementSeqNumber: 1, ...body });
    const { provider, ...said } = providers[0] ?? { provider: '', accepted: false };
    expect([providers.length, provider]).toEqual([1, `posted:${mocks.relayer.relayerUrl.replace('ws:', 'http:')}`]);
    return said;
  }

  test('the key, the answers and the rules are the same', async () => {
    const replacementUuid = newUuid();
    const next = (replacementSeqNumber: number, changes: Partial<PammBody> = {}) =>
      post({ replacementUuid, replacementSeqNumber, ...changes });
    expect(await next(1)).toEqual({ accepted: true, timestampNs: expect.anything() });
    expect(mocks.relayer.state.authorizations.at(-1)).toBe(RELAYER_KEY);
    expect(await next(1)).toEqual(refused('stale seq'));
    expect(await next(2, { tx: '0x' })).toMatchObject({ accepted: true });
    expect(await next(3)).toEqual(refused('uuid has been canceled'));
    expect(sent(replacementUuid)).toEqual(['1', '1', 'cancel 2', '3']);
  });

  test('a slow answer delays no later update', async () => {
    const release = holdAcks(mocks.relayer);
    const replacementUuid = newUuid();
    const slow = post({ replacementUuid });
    await eventually(() => sent(replacementUuid).length === 1);
    mocks.relayer.state.behaviour = { kind: 'ack' };
    expect(await post()).toMatchObject({ accepted: true });
    expect(await rig.outcomes(replacementUuid)).toEqual([]);
    release();
    expect(await slow).toMatchObject({ accepted: true });
  });

  test.each([
    [{ kind: 'too-many-requests' }, null],
    [{ kind: 'http-status', status: 401 }, null],
    // The relayer has had it.
    [{ kind: 'close-after', messages: 0 }, 'stale seq'],
  ] as const)(
    'after %o it pauses, and sends what has no answer again if it is still the newest',
    async (behaviour, error) => {
      const { state } = mocks.relayer;
      const attempts = () => state.refusals + state.received.length;
      const before = attempts();
      state.behaviour = behaviour;
      const [kept, replaced] = [newUuid(), newUuid()];
      await post({ replacementUuid: kept, responseTimeoutMs: 0 });
      await post({ replacementUuid: replaced, responseTimeoutMs: 0 });
      await eventually(() => (error ? received(kept).length > 0 : attempts() > before));
      await post({ replacementUuid: replaced, replacementSeqNumber: 2, responseTimeoutMs: 0 });
      state.behaviour = { kind: 'ack' };
      const [end] = await eventually(async () => {
        const ends = await rig.outcomes(kept);
        return ends.length > 0 && ends;
      });
      expect(end).toMatchObject({ outcome: error ? 'rejected' : 'accepted', error });
      await eventually(async () => (await rig.outcomes(replaced)).length === 2);
      expect(sent(replaced).at(-1)).toBe('2');
    },
  );

  test.each(['hanging', 'garbage'] as const)('%s: the update is pending, and ends unanswered', async (kind) => {
    mocks.relayer.state.behaviour = { kind };
    const replacementUuid = newUuid();
    expect(await post({ replacementUuid, responseTimeoutMs: 0 })).toEqual({ accepted: false, pending: true });
    await eventually(() => received(replacementUuid).length > 0);
    clock.pass(3_250);
    const end = await eventually(async () => (await rig.outcomes(replacementUuid))[0]);
    expect(end.outcome).toBe('unanswered');
  });
});

test('the mock takes nothing but the documented form', async () => {
  const good = { uuid: `0x${'0a'.repeat(16)}`, seq: 1, tx: '0x', maxBlockNumber: 0 };
  const call = (changes: object, fields: object = {}) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'pamm_sendQuoteUpdateV1',
      params: [{ ...good, ...changes }],
      ...fields,
    });
  const codeOf = async (body: string) => {
    const response = await fetch(mocks.relayer.relayerUrl.replace('ws:', 'http:'), {
      method: 'POST',
      headers: { 'x-api-key': RELAYER_KEY },
      body,
    });
    const { error, result } = (await response.json()) as { error?: { code: number }; result?: { error?: string } };
    return error?.code ?? result?.error ?? 'taken';
  };
  expect(await codeOf(call({}))).toBe('taken');
  for (const changes of [
    { uuid: '0x0a' },
    { seq: 0 },
    { seq: '2' },
    { tx: '' },
    { tx: '0x1' },
    { maxBlockNumber: -1 },
    { maxBlockNumber: undefined },
    { maxTimestamp: 1 },
  ])
    expect(await codeOf(call(changes))).toBe(-32_602);
  expect(await codeOf(call({}, { params: [good, good] }))).toBe(-32_602);
  expect(await codeOf(call({}, { method: 'eth_sendBundle' }))).toBe(-32_601);
  expect(await codeOf(call({}, { jsonrpc: undefined }))).toBe(-32_600);
  expect(await codeOf('{')).toBe(-32_600);
});
