import { beforeEach, expect, test } from 'vitest';
import { BundleRig } from './bundle-rig.ts';
import { eventually } from './eventually.ts';
import { BSC, ETHEREUM, OTHER_KEY, type PammBody, ROTATED_KEY } from './rig.ts';
import { stopWallClock } from './stopped-clock.ts';
import { pammWorld } from './world.ts';

/** A uuid belongs to the key that first used it: what another key sees and can do that knows it. */

const { rig, mocks, bodies } = pammWorld();
stopWallClock();

beforeEach(() => {
  for (const mock of [mocks.stream, mocks.bundle, mocks.relayer]) mock.state.received.length = 0;
});

const FOREIGN = { accepted: false, error: 'skipped: this replacementUuid belongs to another key' };

/** What a stream builder or the relayer received under a uuid, as `seq`, or `cancel seq`. */
const sent = (builder: 'titan' | 'quasar' | 'stream' | 'relayer', { replacementUuid }: PammBody) =>
  mocks[builder].state.received
    .filter((update) => update.replacementUuid === replacementUuid)
    .map(({ replacementSeqNumber, tx }) => (tx === '0x' ? `cancel ${replacementSeqNumber}` : replacementSeqNumber));

const accepted = async (chainId: number, body: PammBody, key?: string) =>
  (await rig.submit(chainId, body, key)).providers.map((provider) => provider.accepted);

test.each([
  ['quote', () => bodies.ethereumTx],
  ['cancel', () => '0x'],
])("another key's %s is skipped at every stream and does not outrank its owner's", async (_name, tx) => {
  const body = bodies.ethereum({ replacementSeqNumber: 5 });
  expect(await accepted(ETHEREUM, body)).toEqual([true, true]);
  const foreign = await rig.submit(ETHEREUM, { ...body, tx: tx(), replacementSeqNumber: 1_000 }, OTHER_KEY);
  expect(foreign).toMatchObject({ accepted: false, providers: [FOREIGN, FOREIGN] });
  expect(await accepted(ETHEREUM, { ...body, replacementSeqNumber: 6 })).toEqual([true, true]);
  for (const builder of ['titan', 'quasar'] as const) expect(sent(builder, body)).toEqual(['5', '6']);
});

test("another key's cancel neither removes a push that waits at the bundle builder nor guards against the next", async () => {
  const bundles = new BundleRig(rig, mocks);
  const { release } = await bundles.occupy();
  const waiting = bodies.bsc({ blockNumber: 101 });
  const answer = accepted(BSC, waiting);
  await bundles.waits(waiting);
  for (const changes of [{ tx: '0x' }, { blockNumber: 1_000 }]) {
    const foreign = await rig.submit(BSC, { ...waiting, ...changes, replacementSeqNumber: 1_000 }, OTHER_KEY);
    expect(foreign.providers).toMatchObject([FOREIGN, FOREIGN, FOREIGN]);
  }
  release();
  expect(await answer).toEqual([true, true, true]);
  expect(await accepted(BSC, { ...waiting, blockNumber: 102, replacementSeqNumber: 2 })).toEqual([true, true, true]);
  for (const builder of ['stream', 'relayer'] as const) expect(sent(builder, waiting)).toEqual(['1', '2']);
  expect(mocks.bundle.state.received.map(({ blockNumber }) => blockNumber)).toEqual(['100', '101', '102']);
});

test('a rotated key keeps the uuids of its holder; on another chain a uuid is another', async () => {
  const body = bodies.ethereum();
  expect(await accepted(ETHEREUM, body)).toEqual([true, true]);
  expect(await accepted(ETHEREUM, { ...body, replacementSeqNumber: 2 }, ROTATED_KEY)).toEqual([true, true]);
  const elsewhere = bodies.bsc({ replacementUuid: body.replacementUuid, blockNumber: 40 });
  expect(await accepted(BSC, elsewhere, OTHER_KEY)).toEqual([true, true, true]);
});

test('the audit trail has them: the update, and that it was skipped at each builder', async () => {
  const body = bodies.bsc({ blockNumber: 50 });
  expect(await accepted(BSC, body)).toEqual([true, true, true]);
  await rig.submit(BSC, { ...body, replacementSeqNumber: 2 }, OTHER_KEY);
  const outcomes = await eventually(async () => {
    const all = await rig.outcomes(body.replacementUuid);
    return all.length >= 6 ? all : undefined;
  });
  expect(outcomes.map(({ provider, outcome, error }) => [provider.split(':')[0], outcome, error]).sort()).toEqual([
    ['bundle', 'accepted', null],
    ['bundle', 'skipped', FOREIGN.error],
    ['relayer', 'accepted', null],
    ['relayer', 'skipped', FOREIGN.error],
    ['stream', 'accepted', null],
    ['stream', 'skipped', FOREIGN.error],
  ]);
});
