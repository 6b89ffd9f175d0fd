import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { runs } from '../harness/property-seed.ts';
import {
  type BundleModel,
  cancelInModel,
  EMPTY_BUNDLE_MODEL,
  type Limits,
  offerInModel,
  type Push,
  settleInModel,
  takeInModel,
} from './bundle-model.ts';
import { eventually } from './eventually.ts';
import { claimInModel, type OwnerModel } from './owner-model.ts';
import { API_KEY, BSC, OTHER_KEY } from './rig.ts';
import { newUuid, signedTx } from './sample-updates.ts';
import { stopWallClock } from './stopped-clock.ts';
import { registerInModel, type StreamModel } from './stream-model.ts';
import { pammWorld } from './world.ts';

/** The lifecycle of a quote under random submissions, through every real part, against the plain models. */

const LIMITS: Limits = { waiting: 256, cancelGuardMs: 30_000, shortestPauseMs: 500, longestPauseMs: 30_000 };
const OLDER = 'skipped: older than a quote already seen for this stream';
const FOREIGN = 'skipped: this replacementUuid belongs to another key';

const { rig, mocks } = pammWorld();
stopWallClock();
let txs: string[];
beforeAll(async () => {
  txs = [await signedTx(BSC, 1), await signedTx(BSC, 2)];
});

type Submitted = { key: string; uuid: number; seq: number; block: number; tx: number; cancel: boolean };

const submitted: fc.Arbitrary<Submitted> = fc.record({
  key: fc.constantFrom(API_KEY, API_KEY, OTHER_KEY),
  uuid: fc.integer({ min: 0, max: 1 }),
  seq: fc.integer({ min: 1, max: 5 }),
  block: fc.integer({ min: 100, max: 101 }),
  tx: fc.integer({ min: 0, max: 1 }),
  cancel: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
});

const bodyOf = ({ seq, block, tx, cancel }: Submitted, replacementUuid: string, maxTimestamp: number) => ({
  tx: cancel ? '0x' : (txs[tx] ?? ''),
  blockNumber: block,
  replacementUuid,
  replacementSeqNumber: seq,
  maxTimestamp,
});

const sequences = (builder: 'stream' | 'relayer', uuid: string) =>
  mocks[builder].state.received
    .filter(({ replacementUuid }) => replacementUuid === uuid)
    .map(({ replacementSeqNumber }) => Number(replacementSeqNumber));

test('one after another: all builders say what the models say', { timeout: 180_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(submitted, { minLength: 5, maxLength: 25 }), async (steps) => {
      // Uuids and expiry are new in each run, so that runs share nothing.
      const uuids = [newUuid(), newUuid()];
      const maxTimestamp = Math.floor(Date.now() / 1000) + 4;
      let owners: OwnerModel = new Map();
      let stream: StreamModel = new Map();
      let bundle: BundleModel = EMPTY_BUNDLE_MODEL;
      const relayer: RelayerModel = new Map();
      for (const step of steps) {
        const uuid = uuids[step.uuid] ?? '';
        const body = bodyOf(step, uuid, maxTimestamp);
        // Accepted bundles are shared by all uuids: the block distinguishes the runs.
        body.blockNumber += Number(BigInt(`0x${(uuids[0] ?? '').slice(2, 12)}`)) * 2;
        const answer = await rig.submit(BSC, body, step.key);
        const said = answer.providers.map(({ accepted, error }) => (accepted ? 'accepted' : error));
        const content = `${body.tx}|${body.blockNumber}`;

        const claimed = claimInModel(owners, uuid, step.key);
        owners = claimed.model;
        if (!claimed.isOwner) {
          expect(said).toEqual([FOREIGN, FOREIGN, FOREIGN]);
          continue;
        }
        const registered = registerInModel(stream, { uuid, seq: BigInt(step.seq), content });
        stream = registered.model;
        const isOlder = registered.registration === 'older';
        const streamWords = isOlder ? OLDER : 'accepted';
        const relayerWords = isOlder ? OLDER : expectRelayer(relayer, step, uuid);
        const expected = expectBundle(bundle, step, { uuid, content, block: BigInt(body.blockNumber) });
        bundle = expected.model;
        expect(said).toEqual([streamWords, expected.words, relayerWords]);
      }
    }),
    { numRuns: runs(15) },
  );
});

/** What a relayer knows of each uuid. */
type RelayerModel = Map<string, { seq: number; isCancelled: boolean }>;

/** What the relayer's entry says of an update that is sent to it. */
function expectRelayer(model: RelayerModel, { seq, cancel }: Submitted, uuid: string): string {
  const known = model.get(uuid);
  if (known?.isCancelled) return 'uuid has been canceled';
  if (known && seq <= known.seq) return 'stale seq';
  model.set(uuid, { seq, isCancelled: cancel });
  return 'accepted';
}

/** What the bundle builder's entry says when each request is over before the next begins. */
function expectBundle(
  model: BundleModel,
  step: Submitted,
  { uuid, content, block }: { uuid: string; content: string; block: bigint },
): { model: BundleModel; words: string } {
  const now = Date.now();
  const seq = BigInt(step.seq);
  if (step.cancel) {
    const cancelled = cancelInModel(model, { uuid, block, seq }, now, LIMITS);
    return { model: cancelled.model, words: 'skipped: the request was a cancel' };
  }
  const push: Push = { id: uuid, uuid, block, seq, content, expiryMs: now + 4_000, deadlineMs: now + 3_000 };
  const offered = offerInModel(model, push, now, LIMITS);
  if (offered.verdict === 'older') return { model: offered.model, words: OLDER };
  if (offered.verdict === 'accepted') return { model: offered.model, words: 'accepted' };
  expect(offered.verdict).toBe('queued');
  const taken = takeInModel(offered.model, now);
  const settled = settleInModel(taken.model, push, { kind: 'accepted' }, now, LIMITS);
  return { model: settled.model, words: 'accepted' };
}

test('all at once: neither a stream nor a relayer goes back, and ends with the newest of the key that came first', {
  timeout: 180_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(submitted, { minLength: 5, maxLength: 40 }), async (steps) => {
      const uuids = [newUuid(), newUuid()];
      const maxTimestamp = Math.floor(Date.now() / 1000) + 4;
      // Under one number there is one update: what comes under it later, with other content, is older by rule.
      const bodyAt = (step: Submitted) =>
        bodyOf({ ...step, cancel: step.seq % 3 === 0, tx: 0, block: 100 }, uuids[step.uuid] ?? '', maxTimestamp);
      const answers = await Promise.all(
        steps.map(async (step) => {
          const { providers } = await rig.submit(BSC, bodyAt(step), step.key);
          const foreign = providers.filter(({ error }) => error === FOREIGN).length;
          return { ...step, foreign };
        }),
      );
      // Every builder decided alike.
      for (const { foreign } of answers) expect([0, 3]).toContain(foreign);
      for (const [index, uuid] of uuids.entries()) {
        const all = answers.filter((answer) => answer.uuid === index);
        if (all.length === 0) continue;
        const owners = new Set(all.filter(({ foreign }) => foreign === 0).map(({ key }) => key));
        expect(owners.size).toBe(1);
        const mine = all.filter(({ key }) => owners.has(key));
        expect(mine.map(({ foreign }) => foreign)).toEqual(mine.map(() => 0));
        const numbers = mine.map(({ seq }) => seq);
        for (const builder of ['stream', 'relayer'] as const) {
          await eventually(() => sequences(builder, uuid).at(-1) === Math.max(...numbers));
          expect(sequences(builder, uuid)).toEqual(sequences(builder, uuid).toSorted((a, b) => a - b));
          expect(numbers).toEqual(expect.arrayContaining(sequences(builder, uuid)));
        }
      }
    }),
    { numRuns: runs(15) },
  );
});
