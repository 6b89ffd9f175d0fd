import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertEqual } from '../../../test/harness/assert-equal.ts';
import { assertUntil } from '../../../test/harness/assert-until.ts';
import { runs } from '../../../test/harness/property-seed.ts';
import { submissionOf } from '../../../test/pamm/sample-updates.ts';
import { type Answer, outcomeOf } from '../../submit/answer.ts';
import { ACKNOWLEDGE_WITHIN_MS, deadlineMs, type Hex, type Submission } from '../../submit/quote-update.ts';
import { type Entry, START, step, traceOf } from './delivery-trace.fixture.ts';
import {
  type DeliveryEffect,
  type DeliveryState,
  DROP_BELOW_MS,
  LATE_MS,
  newDelivery,
  nextDelivery,
} from './next-delivery.ts';
import { updateKey } from './stream-codec.ts';

const idOf = (submissions: readonly Submission[]) => submissions.map(({ id }) => id);
const inFlight = ({ outstanding }: DeliveryState) => [...outstanding.values()].flat();
const effectsOf = <K extends DeliveryEffect['kind']>(effects: readonly DeliveryEffect[], kind: K) =>
  effects.filter((effect): effect is DeliveryEffect & { kind: K } => effect.kind === kind);

/** Checks random traces. @param check returns how often it found what it is about, which must not be rare */
async function holds(check: (entries: readonly Entry[]) => number): Promise<void> {
  let found = 0;
  await assertUntil(
    () => found > 20,
    fc.property(fc.array(step, { minLength: 80, maxLength: 160 }), (steps) => {
      found += check(traceOf(steps));
    }),
    { numRuns: runs(150) },
  );
}

test('property 1: an update is sent at its admission, in time, with a connection and a lease, and never an older one', async () => {
  await holds((entries) => {
    const newest = new Map<Hex, bigint>();
    let count = 0;
    for (const { event, moment, effects } of entries)
      for (const { submission } of effectsOf(effects, 'send')) {
        const { replacementUuid, replacementSeqNumber } = submission.update;
        expect(event).toMatchObject({ kind: 'admitted', admission: 'send', submission });
        expect(moment.isOpen && moment.now < moment.leaseUntil).toBe(true);
        expect(deadlineMs(submission) - moment.now).toBeGreaterThan(DROP_BELOW_MS);
        expect(replacementSeqNumber).toBeGreaterThanOrEqual(newest.get(replacementUuid) ?? 0n);
        newest.set(replacementUuid, replacementSeqNumber);
        count += 1;
      }
    return count;
  });
});

test('property 2: on a connection an update is in flight once, and a job that runs again gets the answer it had', async () => {
  await holds((entries) => {
    const sent = new Set<string>();
    const answers = new Map<string, Answer>();
    let repeats = 0;
    for (const { event, before, after, effects } of entries) {
      if (event.kind === 'opened') {
        sent.clear();
        answers.clear();
      }
      for (const { submission } of effectsOf(effects, 'send')) {
        expect(before.outstanding.has(updateKey(submission.update))).toBe(false);
        expect(sent.has(submission.id)).toBe(false);
        sent.add(submission.id);
      }
      for (const { submission, answer } of effectsOf(effects, 'publish')) {
        if (event.kind === 'heard') answers.set(submission.id, answer);
        if (event.kind !== 'admitted' || event.isOlder || event.admission !== 'send') continue;
        expect(answer).toEqual(answers.get(submission.id));
        repeats += 1;
      }
      const ids = idOf(inFlight(after));
      assertEqual(new Set(ids).size, ids.length);
    }
    return repeats;
  });
});

test('property 3: when a connection opens, what had no acknowledgement is attempted again, first', async () => {
  await holds((entries) => {
    let count = 0;
    for (const { event, moment, before, effects, after } of entries) {
      if (event.kind !== 'opened') continue;
      const all = [...inFlight(before), ...before.waiting];
      const inTime = all.filter((each) => deadlineMs(each) - moment.now > DROP_BELOW_MS);
      const kind = moment.now < moment.leaseUntil && before.closeAt === null ? 'admit' : 'giveBack';
      expect(effectsOf(effects, kind).map(({ submission }) => submission.id)).toEqual(idOf(inTime));
      assertEqual([after.outstanding.size, after.waiting.length], [0, 0]);
      count += inFlight(before).length;
    }
    return count;
  });
});

test('property 4: each attempt ends once, and what is in flight ends by its time', async () => {
  await holds((entries) => {
    const open = new Set<Submission>();
    const sentBefore = new Set<string>();
    let count = 0;
    for (const { event, moment, before, after, effects } of entries) {
      if (event.kind === 'taken') open.add(event.submission);
      if (event.kind === 'opened') {
        for (const each of inFlight(before)) {
          open.add(each);
          sentBefore.add(each.id);
        }
      }
      for (const { submission } of [...effectsOf(effects, 'done'), ...effectsOf(effects, 'giveBack')]) {
        expect(open.delete(submission)).toBe(true);
        count += 1;
      }
      const late = inFlight(after).filter((each) => moment.now - deadlineMs(each) >= LATE_MS);
      assertEqual(late, []);
      for (const { submission, end } of effectsOf(effects, 'note'))
        if (end === 'unanswered' && !after.isClosed && !sentBefore.has(submission.id))
          expect(moment.now).toBeGreaterThanOrEqual(deadlineMs(submission));
      const ended = effects.flatMap((each) =>
        each.kind === 'publish' || each.kind === 'note' ? [each.submission] : [],
      );
      const gone = event.kind === 'opened' ? [] : inFlight(before).filter((each) => !inFlight(after).includes(each));
      for (const each of gone) expect(ended.filter((other) => other === each)).toHaveLength(1);
      assertEqual(
        inFlight(after).filter((each) => ended.includes(each)),
        [],
      );
    }
    expect(open.size).toBe(0);
    return count;
  });
});

test('property 5: a connection is replaced when an update ends unanswered and the builder sent nothing meanwhile', async () => {
  await holds((entries) => {
    let [signAt, count] = [START, 0];
    for (const { event, moment, before, effects } of entries) {
      if (event.kind === 'opened' || event.kind === 'heard') signAt = moment.now;
      const isLate = effectsOf(effects, 'note').some(
        ({ end, submission }) => end === 'unanswered' && inFlight(before).includes(submission),
      );
      const isDue = isLate && before.closeAt === null && moment.isOpen && moment.now - signAt >= ACKNOWLEDGE_WITHIN_MS;
      if (before.closeAt === null) assertEqual(effectsOf(effects, 'reconnect').length, isDue ? 1 : 0);
      count += isDue ? 1 : 0;
    }
    return count;
  });
});

test('property 6: without a lease nothing waits, and a delivery that stops closes its connection once', async () => {
  await holds((entries) => {
    const stopped = entries.findIndex(({ event }) => event.kind === 'stopping');
    const closing = entries.filter(({ effects }) => effectsOf(effects, 'close').length > 0);
    expect(closing).toHaveLength(stopped < 0 ? 0 : 1);
    for (const { moment, after, effects } of closing) {
      // Within the grace, it waits for all that is in flight.
      const abandoned = effects.slice(effects.findIndex(({ kind }) => kind === 'close') + 1);
      if (moment.now < (after.closeAt ?? 0)) expect(abandoned).toEqual([]);
      expect(after.outstanding.size).toBe(0);
    }
    for (const { moment, before, after } of entries) {
      if (before.waiting.length > 0) expect(moment.now).toBeLessThanOrEqual(moment.leaseUntil);
      if (moment.now >= moment.leaseUntil || after.closeAt !== null) assertEqual(after.waiting, []);
      if (after.closeAt !== null && after.outstanding.size === 0) assertEqual(after.isClosed, true);
    }
    return closing.length;
  });
});

test('property 7: of an update that was sent, nothing says that it was skipped or dropped', async () => {
  await holds((entries) => {
    const [sent, sentBefore] = [new Set<string>(), new Set<string>()];
    let count = 0;
    for (const { event, before, after, effects } of entries) {
      if (event.kind === 'opened') for (const { id } of inFlight(before)) sentBefore.add(id);
      for (const { submission, answer } of effectsOf(effects, 'publish')) {
        if (outcomeOf(answer) === 'skipped') expect(sent.has(submission.id)).toBe(false);
        sent.delete(submission.id);
      }
      for (const { submission, end } of effectsOf(effects, 'note')) {
        if (end === 'dropped') expect(sent.has(submission.id)).toBe(false);
        else if (sentBefore.has(submission.id)) count += 1;
        sent.delete(submission.id);
      }
      for (const { id } of inFlight(after)) sent.add(id);
    }
    return count;
  });
});

test('a connection is replaced also where the clock stepped back by hours since the builder sent something', () => {
  const back = START - 7_200_000;
  const submission = submissionOf({}, back);
  const at = (now: number) => ({ now, isOpen: true, leaseUntil: START });
  const admitted = { kind: 'admitted', submission, admission: 'send', isOlder: false } as const;
  const [sent] = nextDelivery(newDelivery(START), admitted, at(back));
  const [, effects] = nextDelivery(sent, { kind: 'time' }, at(deadlineMs(submission) + LATE_MS));
  expect(effects).toEqual([{ kind: 'note', submission, end: 'unanswered' }, { kind: 'reconnect' }]);
});
