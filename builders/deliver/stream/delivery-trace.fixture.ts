import fc from 'fast-check';
import { expect } from 'vitest';
import { assertEqual } from '../../../test/harness/assert-equal.ts';
import { submissionOf } from '../../../test/pamm/sample-updates.ts';
import type { Answer } from '../../submit/answer.ts';
import { ACKNOWLEDGE_WITHIN_MS, type Hex, type Submission } from '../../submit/quote-update.ts';
import type { Admission } from '../../submit/stream/stream-order.ts';
import {
  type DeliveryEffect,
  type DeliveryEvent,
  type DeliveryState,
  type Moment,
  newDelivery,
  nextDelivery,
  wakeAt,
} from './next-delivery.ts';
import type { Acknowledgement } from './stream-codec.ts';

/* A delivery whose connection, lease, Redis and builder do at random times what they like. */

export const START = 1_000_000;
const LEASE_MS = 1_600;
const uuidOf = (index: number): Hex => `0x${'00'.repeat(15)}0${index}`;

/** One step of a delivery: what happened, when, and what followed. */
export interface Entry {
  readonly event: DeliveryEvent;
  readonly moment: Moment;
  readonly before: DeliveryState;
  readonly after: DeliveryState;
  readonly effects: readonly DeliveryEffect[];
}

const admission = fc.constantFrom<Admission>('send', 'send', 'send', 'send', 'superseded', 'fenced');
const answer = fc.constantFrom<Answer>({ accepted: true }, { accepted: false, error: 'stale seq' });
const age = fc.constantFrom(0, 0, 0, 5, 5, 1_000, 2_490, 2_510);
const ofDo = <const Name extends string, T>(name: Name, fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields).map((values) => ({ do: name, ...values }));

/** What the world around a delivery does. */
export const step = fc.oneof(
  { weight: 12, arbitrary: ofDo('take', { uuid: fc.nat({ max: 2 }), seq: fc.nat({ max: 2 }), age }) },
  { weight: 8, arbitrary: ofDo('takeAgain', { at: fc.nat({ max: 4 }) }) },
  { weight: 24, arbitrary: ofDo('admit', { at: fc.nat(), admission }) },
  { weight: 8, arbitrary: ofDo('acknowledge', { at: fc.nat(), answer }) },
  { weight: 1, arbitrary: ofDo('garbage', {}) },
  { weight: 12, arbitrary: ofDo('wait', { ms: fc.constantFrom(1, 1, 20, 20, 300, 400, 3_300) }) },
  { weight: 10, arbitrary: ofDo('open', {}) },
  { weight: 2, arbitrary: ofDo('break', {}) },
  { weight: 1, arbitrary: fc.oneof(ofDo('lose', {}), ofDo('expire', {}), ofDo('stop', {}), ofDo('stop', {})) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Plays steps, and then lets Redis answer and all times pass. */
export function traceOf(steps: readonly Step[]): readonly Entry[] {
  const world = new World();
  for (const each of steps) world.play(each);
  world.finish();
  return world.entries;
}

class World {
  readonly entries: Entry[] = [];
  #state = newDelivery(START);
  #now = START;
  #leaseUntil = START + LEASE_MS;
  #isRenewed = true;
  #isOpen = false;
  readonly #taken: Submission[] = [];
  /** What Redis has not decided. */
  readonly #asked: Submission[] = [];
  readonly #sent = new Map<Hex, bigint>();

  play(step: Step): void {
    if (step.do === 'take') {
      const replacementSeqNumber = BigInt(Math.floor(this.#taken.length / 4) + step.seq);
      const changes = { replacementUuid: uuidOf(step.uuid), replacementSeqNumber };
      this.#takeJob(submissionOf(changes, this.#now - step.age));
    }
    const earlier = step.do === 'takeAgain' && this.#taken.at(-1 - step.at);
    if (earlier) this.#takeJob({ ...earlier });
    if (step.do === 'admit') this.#admit(step.at, step.admission);
    if (step.do === 'acknowledge') {
      const keys = [...this.#state.outstanding.keys()];
      this.#hear({ key: keys[step.at % keys.length] ?? 'unknown', answer: step.answer });
    }
    if (step.do === 'garbage') this.#hear(null);
    if (step.do === 'wait') this.#wait(step.ms);
    if (step.do === 'open') this.#open();
    if (step.do === 'break') this.#isOpen = false;
    if (step.do === 'expire') this.#isRenewed = false;
    if (step.do === 'lose' || step.do === 'stop') this.#loseLease();
    if (step.do === 'stop' && this.#state.closeAt === null) this.#take({ kind: 'stopping', graceMs: 500 });
  }

  finish(): void {
    while (this.#asked.length > 0) this.#admit(0, 'fenced');
    this.#isRenewed = false;
    this.#wait(2 * ACKNOWLEDGE_WITHIN_MS);
  }

  #moment(): Moment {
    return { now: this.#now, isOpen: this.#isOpen, leaseUntil: this.#leaseUntil };
  }

  #take(event: DeliveryEvent): void {
    const [before, moment] = [this.#state, this.#moment()];
    const [after, effects] = nextDelivery(before, event, moment);
    this.entries.push({ event, moment, before, after, effects });
    this.#state = after;
    for (const effect of effects) {
      if (effect.kind === 'admit') this.#asked.push(effect.submission);
      if (effect.kind === 'reconnect' || effect.kind === 'close') this.#isOpen = false;
      if (effect.kind === 'send') {
        const { replacementUuid, replacementSeqNumber } = effect.submission.update;
        this.#sent.set(replacementUuid, replacementSeqNumber);
      }
    }
  }

  #takeJob(submission: Submission): void {
    this.#taken.push(submission);
    this.#take({ kind: 'taken', submission });
  }

  #admit(at: number, admission: Admission): void {
    const [submission] = this.#asked.splice(at % this.#asked.length, 1);
    if (!submission) return;
    const { replacementUuid, replacementSeqNumber } = submission.update;
    const isOlder = replacementSeqNumber < (this.#sent.get(replacementUuid) ?? 0n);
    this.#take({ kind: 'admitted', submission, admission, isOlder });
  }

  #hear(acknowledgement: Acknowledgement | null): void {
    if (this.#isOpen) this.#take({ kind: 'heard', acknowledgement });
  }

  #open(): void {
    if (this.#isOpen || this.#state.isClosed) return;
    this.#isOpen = true;
    this.#take({ kind: 'opened' });
  }

  #loseLease(): void {
    this.#isRenewed = false;
    this.#leaseUntil = Math.min(this.#leaseUntil, this.#now);
    this.#take({ kind: 'time' });
  }

  #wait(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const wake = wakeAt(this.#state, this.#moment());
      // Nothing that is due stays undone.
      expect(wake).toBeGreaterThan(this.#now);
      const renewal = this.#isRenewed ? this.#now + LEASE_MS / 2 : Number.POSITIVE_INFINITY;
      this.#now = Math.min(wake, renewal, end);
      if (this.#isRenewed && this.#now < this.#leaseUntil) this.#leaseUntil = this.#now + LEASE_MS;
      if (this.#now === wake) this.#take({ kind: 'time' });
      if (this.#now < end) continue;
      assertEqual(nextDelivery(this.#state, { kind: 'time' }, this.#moment())[1], []);
      return;
    }
  }
}
