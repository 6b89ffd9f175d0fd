import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringifyJson } from '../../../runtime/json.ts';
import { startedWorld } from '../../../test/harness/open-world.ts';
import { runs } from '../../../test/harness/property-seed.ts';
import { createRedisDatabase } from '../../../test/harness/redis.ts';
import {
  type BundleModel,
  cancelInModel,
  EMPTY_BUNDLE_MODEL,
  type Limits,
  type OfferVerdict,
  offerInModel,
  type Push,
  settleInModel,
  takeInModel,
} from '../../../test/pamm/bundle-model.ts';
import { newUuid, submissionOf, updateOf } from '../../../test/pamm/sample-updates.ts';
import { type Answer, skipped } from '../answer.ts';
import { RedisKeys } from '../queue/redis-keys.ts';
import { deadlineMs, type Submission } from '../quote-update.ts';
import { BundleState, CANCEL_GUARD_MS, MAX_PAUSE_MS, MIN_PAUSE_MS, type WaitingPush } from './bundle-state.ts';

const LIMITS: Limits = {
  // Small enough to be reached; the real one has a test of its own.
  waiting: 2,
  cancelGuardMs: CANCEL_GUARD_MS,
  shortestPauseMs: MIN_PAUSE_MS,
  longestPauseMs: MAX_PAUSE_MS,
};
const FENCE = '1';
const START_MS = 1_800_000_000_000;

const database = startedWorld(createRedisDatabase);
let redis: Redis;
let examples = 0;

beforeAll(async () => {
  redis = new Redis(database.url);
});
afterAll(() => redis.disconnect());

/**
 * The real state, driven by the same steps as the model. `jobs` are what BullMQ would give the worker, in any order.
 */
type Real = {
  readonly state: BundleState;
  readonly jobs: WaitingPush[];
  readonly inFlight: Submission[];
  nowMs: number;
};
type ModelBox = { model: BundleModel; nowMs: number };
type Step = fc.AsyncCommand<ModelBox, Real>;

const submissions = new Map<string, Submission>();

function submissionFor(push: Push): Submission {
  const submission: Submission = {
    id: push.id,
    replyTo: 'x',
    arrivedAtMs: push.deadlineMs - 3_000,
    update: updateOf({
      tx: `0x${push.content}`,
      blockNumber: push.block,
      replacementUuid: `0x${push.uuid}`,
      replacementSeqNumber: push.seq,
      maxTimestamp: BigInt(push.expiryMs / 1000),
    }),
  };
  submissions.set(push.id, submission);
  return submission;
}

class Offer implements Step {
  readonly #fields: { uuid: string; block: bigint; seq: bigint; tx: number; lifeSecs: number };
  constructor(fields: { uuid: string; block: bigint; seq: bigint; tx: number; lifeSecs: number }) {
    this.#fields = fields;
  }
  check = () => true;
  async run(box: ModelBox, real: Real): Promise<void> {
    const { uuid, block, seq, tx, lifeSecs } = this.#fields;
    const expiryMs = (Math.floor(box.nowMs / 1000) + lifeSecs) * 1000;
    const id = `push-${examples++}`;
    // The digest of the real state covers transaction, block and expiry: so does the model's content.
    const content = `0${tx}`;
    const push: Push = { id, uuid, block, seq, content, expiryMs, deadlineMs: box.nowMs + 3_000 };
    const modelled = offerInModel(
      box.model,
      { ...push, content: `${content}|${block}|${expiryMs}` },
      box.nowMs,
      LIMITS,
    );
    box.model = modelled.model;
    const { answer, waiting, removed } = await real.state.enqueue(submissionFor(push), real.nowMs);
    expect(answer).toEqual(answerOf(modelled.verdict));
    expect(removed?.id).toBe(modelled.removed?.id);
    if (waiting && !answer) real.jobs.push(waiting);
  }
  toString = () => `offer(${stringifyJson(this.#fields)})`;
}

class Cancel implements Step {
  readonly #cancel: { uuid: string; block: bigint; seq: bigint };
  constructor(cancel: { uuid: string; block: bigint; seq: bigint }) {
    this.#cancel = cancel;
  }
  check = () => true;
  async run(box: ModelBox, real: Real): Promise<void> {
    const modelled = cancelInModel(box.model, this.#cancel, box.nowMs, LIMITS);
    box.model = modelled.model;
    const { uuid, block, seq } = this.#cancel;
    const push: Push = { id: 'c', uuid, block, seq, content: '', expiryMs: 0, deadlineMs: box.nowMs + 3_000 };
    const removed = await real.state.cancel(submissionFor(push), real.nowMs);
    expect(removed?.id).toBe(modelled.removed?.id);
  }
  toString = () => `cancel(${this.#cancel.uuid}, ${this.#cancel.block}, ${this.#cancel.seq})`;
}

/** Asks for each job in turn, as the worker does, until one is not gone. The worker drops what is late by itself. */
async function nextOf({ state, jobs, nowMs }: Real) {
  for (const { id } of jobs.sort((a, b) => a.place - b.place).slice()) {
    const submission = submissions.get(id) ?? submissionOf();
    const { verdict: kind } = await state.dequeue(submission, FENCE, nowMs);
    if (kind === 'busy') return { kind };
    jobs.shift();
    if (kind === 'send' && deadlineMs(submission) <= nowMs) return { kind: 'late', submission };
    if (kind !== 'gone') return { kind, submission };
  }
  return { kind: 'empty' };
}

class Take implements Step {
  check = () => true;
  async run(box: ModelBox, real: Real): Promise<void> {
    const modelled = takeInModel(box.model, box.nowMs);
    box.model = modelled.model;
    const { kind, submission } = await nextOf(real);
    if (kind === 'empty' && modelled.kind === 'busy') return;
    expect(kind).toBe(modelled.kind);
    expect(submission?.id).toBe(modelled.push?.id);
    if (kind === 'send' && submission) real.inFlight.splice(0, 1, submission);
  }
  toString = () => 'take';
}

class Settle implements Step {
  readonly #kind: 'accepted' | 'rejected' | 'failed';
  readonly #retryAfterMs: number | undefined;
  constructor(kind: 'accepted' | 'rejected' | 'failed', retryAfterMs: number | undefined) {
    this.#kind = kind;
    this.#retryAfterMs = retryAfterMs;
  }
  check = (box: Readonly<ModelBox>) => box.model.inFlight !== undefined;
  async run(box: ModelBox, real: Real): Promise<void> {
    const push = box.model.inFlight;
    const submission = real.inFlight.pop();
    if (!push || !submission) throw new Error('nothing is in flight');
    const retry = this.#retryAfterMs === undefined ? {} : { retryAfterMs: this.#retryAfterMs };
    const modelled = settleInModel(box.model, push, { kind: this.#kind, ...retry }, box.nowMs, LIMITS);
    box.model = modelled.model;
    const answer: Answer = this.#kind === 'accepted' ? { accepted: true } : { accepted: false, error: 'no' };
    const settled = await real.state.settle(submission, { kind: this.#kind, answer, ...retry }, real.nowMs);
    expect(settled.pauseMs).toBe(modelled.pauseMs);
    expect(settled.skipped.map(({ id }) => id).sort()).toEqual(modelled.skipped.map(({ id }) => id).sort());
  }
  toString = () => `settle(${this.#kind}, ${this.#retryAfterMs})`;
}

class Pass implements Step {
  readonly #ms: number;
  constructor(ms: number) {
    this.#ms = ms;
  }
  check = () => true;
  async run(box: ModelBox, real: Real): Promise<void> {
    box.nowMs += this.#ms;
    real.nowMs += this.#ms;
  }
  toString = () => `pass(${this.#ms} ms)`;
}

function answerOf(verdict: OfferVerdict): Answer | undefined {
  if (typeof verdict === 'object') return skipped.backingOff(verdict.pausedMs);
  if (verdict === 'queued') return undefined;
  return verdict === 'accepted' ? { accepted: true } : skipped[verdict === 'full' ? 'queueFull' : verdict];
}

// Few values, so that they meet; sequence numbers beyond 2^53 that a rounding script would take for equal.
const uuid = fc.constantFrom('aa', 'bb', 'cc').map((byte) => byte.repeat(16));
const block = fc.bigInt({ min: 100n, max: 102n });
const seq = fc.bigInt({ min: 9007199254740991n, max: 9007199254740996n });
const offer = fc
  .record({ uuid, block, seq, tx: fc.integer({ min: 0, max: 2 }), lifeSecs: fc.integer({ min: -1, max: 5 }) })
  .map((fields) => new Offer(fields));
const take = fc.constant(new Take());
const steps = [
  offer,
  offer,
  offer,
  take,
  take,
  fc.record({ uuid, block, seq }).map((cancel) => new Cancel(cancel)),
  fc
    .record({
      kind: fc.constantFrom('accepted' as const, 'rejected' as const, 'failed' as const),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 60_000 }), { nil: undefined }),
    })
    .map(({ kind, retryAfterMs }) => new Settle(kind, kind === 'failed' ? retryAfterMs : undefined)),
  fc.oneof(fc.integer({ min: 1, max: 900 }), fc.constantFrom(2_999, 3_000, 29_999, 30_000)).map((ms) => new Pass(ms)),
];

test('any sequence of pushes, cancels, answers and pauses goes as the rules say', { timeout: 180_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 80, size: 'max' }), async (commands) => {
      const keys = new RedisKeys(`m${examples++}`);
      await redis.set(keys.lease('e'), FENCE);
      const state = new BundleState(redis, keys, 'e', LIMITS.waiting);
      const setup = () => ({
        model: { model: EMPTY_BUNDLE_MODEL, nowMs: START_MS },
        real: { state, jobs: [], inFlight: [], nowMs: START_MS },
      });
      await fc.asyncModelRun(setup, commands);
    }),
    { numRuns: runs(80) },
  );
});

/** A connection that loses the first answer to each script, and repeats it. */
const repeating = {
  eval: async (script: string, count: number, ...args: string[]) => {
    await redis.eval(script, count, ...args);
    return redis.eval(script, count, ...args);
  },
} as unknown as Redis;

test('a turn whose answer was lost is the same turn again, for this call alone', async () => {
  const keys = new RedisKeys('lost');
  await redis.set(keys.lease('e'), FENCE);
  const state = new BundleState(redis, keys, 'e');
  const submission = submissionOf({ maxTimestamp: BigInt(START_MS / 1000) + 4n }, START_MS);
  await state.enqueue(submission, START_MS);
  const repeated = new BundleState(repeating, keys, 'e');
  expect(await repeated.dequeue(submission, FENCE, START_MS)).toEqual({ verdict: 'send' });
  expect(await state.dequeue(submission, FENCE, START_MS)).toEqual({ verdict: 'busy' });
});

test('what a dead worker had in flight is given at the next turn, be that its own or that of another', async () => {
  const keys = new RedisKeys('dead');
  await redis.set(keys.lease('e'), FENCE);
  const state = new BundleState(redis, keys, 'e');
  const push = async (number: number, atMs: number) => {
    const update = {
      replacementUuid: newUuid(),
      tx: `0x0${number}`,
      maxTimestamp: BigInt(START_MS / 1000) + 9n,
    } as const;
    const submission = submissionOf(update, atMs);
    await state.enqueue(submission, atMs);
    return submission;
  };
  const [first, second] = [await push(1, START_MS), await push(2, START_MS + 2_000)];
  expect(await state.dequeue(first, FENCE, START_MS)).toEqual({ verdict: 'send' });
  const { id, replyTo, arrivedAtMs } = first;
  expect(await state.dequeue(second, FENCE, START_MS + 3_000)).toMatchObject({
    verdict: 'send',
    unsettled: { id, replyTo, arrivedAtMs, update: { chainId: first.update.chainId } },
  });
  expect(await state.dequeue(first, FENCE, START_MS + 3_000)).toEqual({ verdict: 'gone' });
  expect(await state.dequeue(second, FENCE, START_MS + 4_999)).toEqual({ verdict: 'busy' });
  expect(await state.dequeue(second, FENCE, START_MS + 5_000)).toMatchObject({
    verdict: 'gone',
    unsettled: { id: second.id },
  });
  expect(await state.dequeue(second, FENCE, START_MS + 5_000)).toEqual({ verdict: 'gone' });
  const [late, next] = [await push(3, START_MS + 5_000), await push(4, START_MS + 8_000)];
  for (const dropped of [late, next])
    expect(await state.dequeue(dropped, FENCE, START_MS + 8_000)).toEqual({ verdict: 'send' });
});

test('a failure whose answer was lost counts once, and skips the same pushes again', async () => {
  const keys = new RedisKeys('failed');
  await redis.set(keys.lease('e'), FENCE);
  const state = new BundleState(redis, keys, 'e');
  const repeated = new BundleState(repeating, keys, 'e');
  const failure = { kind: 'failed', answer: { accepted: false, error: 'no' } } as const;
  let now = START_MS;
  for (const pauseMs of [MIN_PAUSE_MS, 2 * MIN_PAUSE_MS]) {
    const expiry = { maxTimestamp: BigInt(Math.floor(now / 1000)) + 4n };
    const [sent, waiting] = [
      submissionOf({ ...expiry, replacementUuid: newUuid(), tx: '0x01' }, now),
      submissionOf({ ...expiry, replacementUuid: newUuid() }, now),
    ];
    for (const submission of [sent, waiting])
      expect(await state.enqueue(submission, now)).not.toHaveProperty('answer.error');
    expect(await state.dequeue(sent, FENCE, now)).toEqual({ verdict: 'send' });
    const settled = await repeated.settle(sent, failure, now);
    expect(settled).toMatchObject({ pauseMs, skipped: [{ id: waiting.id, replyTo: waiting.replyTo }] });
    now += pauseMs;
  }
});

test('a clock that stepped back by hours leaves neither a pause nor a request in flight for hours', async () => {
  const keys = new RedisKeys('back');
  await redis.set(keys.lease('e'), FENCE);
  const state = new BundleState(redis, keys, 'e');
  /** Sends an update at a time. */
  const send = async (number: number, atMs: number) => {
    const update = { replacementUuid: newUuid(), tx: `0x0${number}`, maxTimestamp: BigInt(atMs / 1000) + 4n } as const;
    const submission = submissionOf(update, atMs);
    const { answer } = await state.enqueue(submission, atMs);
    return { submission, verdict: answer ?? (await state.dequeue(submission, FENCE, atMs)).verdict };
  };
  const { submission } = await send(1, START_MS);
  const failure = { kind: 'failed', answer: { accepted: false, error: 'no' }, retryAfterMs: 1e12 } as const;
  expect((await state.settle(submission, failure, START_MS)).pauseMs).toBe(MAX_PAUSE_MS);
  expect((await send(2, START_MS)).verdict).toEqual(skipped.backingOff(MAX_PAUSE_MS));
  expect((await send(3, START_MS - 7_200_000)).verdict).toBe('send');
  expect((await send(4, START_MS - 7_200_000)).verdict).toBe('busy');
  expect((await send(5, START_MS - 14_400_000)).verdict).toBe('send');
});
