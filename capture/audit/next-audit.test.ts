import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FactName, Outcome } from './facts.ts';
import { type AuditEvent, type AuditState, NEVER_AUDITED, nextAudit } from './next-audit.ts';

const differs = (block: number): Outcome => ({ kind: 'differs', block, shown: [], facts: ['totals'] });
const unproven = (block: number, facts: readonly FactName[] = ['totals']): Outcome => ({
  kind: 'unproven',
  block,
  shown: ['shares'],
  needs: ['totals'],
  facts,
});
const agrees = (block: number): Outcome => ({ kind: 'agrees', block, shown: ['shares'] });

const run = (events: readonly AuditEvent[], from: AuditState = NEVER_AUDITED) =>
  events.reduce<{ state: AuditState; effects: string[] }>(
    ({ state, effects }, event) => {
      const next = nextAudit(state, event);
      return { state: next.state, effects: next.effect === null ? effects : [...effects, next.effect] };
    },
    { state: from, effects: [] },
  );

it('a difference counts when it is seen again after a block, and ends when both sides agree', () => {
  const first = run([
    { outcome: agrees(100), indexedBlock: 140, now: 1 },
    { outcome: differs(110), indexedBlock: 150, now: 2 },
    { outcome: differs(110), indexedBlock: 150, now: 3 },
  ]);
  expect(first).toMatchObject({ state: { suspectedAtBlock: 150, differsSince: null, agreedBlock: 100 }, effects: [] });
  const second = run([{ outcome: differs(110), indexedBlock: 151, now: 4 }], first.state);
  expect(second.effects).toEqual(['differs']);
  expect(second.state).toMatchObject({ differsSince: 4, differences: ['totals'], agreedBlock: 100, auditedBlock: 110 });
  const last = run([{ outcome: agrees(120), indexedBlock: 160, now: 9 }], second.state);
  expect(last.effects).toEqual(['agreesAgain']);
  expect(last.state).toMatchObject({ differsSince: null, differences: [], agreedBlock: 120, lastDifferenceAt: 4 });
});

it('one difference between comparisons that agree, as while Ponder undoes blocks, does not count', () => {
  const { state, effects } = run([
    { outcome: differs(110), indexedBlock: 150, now: 2 },
    { outcome: agrees(110), indexedBlock: 151, now: 3 },
    { outcome: differs(111), indexedBlock: 152, now: 4 },
  ]);
  expect(effects).toEqual([]);
  expect(state).toMatchObject({ suspectedAtBlock: 152, lastDifferenceAt: null });
});

it('a block at which what differs does not count yet is none at which both agreed', () => {
  const { state, effects } = run([
    { outcome: agrees(100), indexedBlock: 140, now: 1 },
    { outcome: unproven(110), indexedBlock: 150, now: 2 },
  ]);
  expect(effects).toEqual([]);
  expect(state).toMatchObject({ auditedBlock: 110, agreedBlock: 100, differences: ['totals'], shown: ['shares'] });
  expect(run([{ outcome: agrees(120), indexedBlock: 160, now: 3 }], state).state.differences).toEqual([]);
});

it('what is unproven in a pool that never agreed counts like any difference, unless it may be right', () => {
  const events = [1, 2, 3].map((n) => ({ outcome: unproven(100 + n), indexedBlock: 140 + n, now: n }));
  const { state, effects } = run(events);
  expect(effects).toEqual(['differs']);
  expect(state).toMatchObject({ differsSince: 2, lastDifferenceAt: 3, differences: ['totals'], agreedBlock: null });
  const ended = run([{ outcome: agrees(120), indexedBlock: 160, now: 4 }], state);
  expect([ended.effects, ended.state.agreedBlock]).toEqual([['agreesAgain'], 120]);
  const maybe = run(events.map((event) => ({ ...event, outcome: unproven(100, []) })));
  expect([maybe.effects, maybe.state.differences]).toEqual([[], ['totals']]);
});

it('a difference of another index counts until a comparison of this one, from which its time begins', () => {
  const before = { ...NEVER_AUDITED, differsSince: 1, lastDifferenceAt: 2, differences: ['totals'] };
  const unread = run([{ outcome: { kind: 'unknown' }, indexedBlock: 140, now: 5 }], before).state;
  expect(unread).toMatchObject({ differsSince: 1, lastDifferenceAt: 2, differences: ['totals'], auditedBlock: null });
  const first = run([{ outcome: differs(110), indexedBlock: 150, now: 6 }], unread);
  expect([first.effects, first.state]).toMatchObject([[], { differsSince: 6, lastDifferenceAt: 6, auditedBlock: 110 }]);
  const second = run([{ outcome: differs(120), indexedBlock: 160, now: 7 }], first.state);
  expect(second.state).toMatchObject({ differsSince: 6, lastDifferenceAt: 7, suspectedAtBlock: null });
  const ended = run([{ outcome: agrees(110), indexedBlock: 150, now: 6 }], unread);
  expect([ended.effects, ended.state.differsSince]).toEqual([['agreesAgain'], null]);
});

describe('over random outcomes', () => {
  const event = fc.record({
    outcome: fc.oneof(
      fc.constant<Outcome>({ kind: 'unknown' }),
      fc.nat(1_000).map(agrees),
      fc.tuple(fc.nat(1_000), fc.subarray<FactName>(['totals'])).map(([block, facts]) => unproven(block, facts)),
      fc.nat(1_000).map(differs),
    ),
    indexedBlock: fc.nat(1_000),
    now: fc.nat(1_000_000),
  });
  const steps = (check: (before: AuditState, event: AuditEvent, after: ReturnType<typeof nextAudit>) => void) =>
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let state = NEVER_AUDITED;
        for (const each of events) {
          const after = nextAudit(state, each);
          check(state, each, after);
          state = after.state;
        }
      }),
    );

  const isDifference = ({ agreedBlock }: AuditState, outcome: Outcome) =>
    outcome.kind === 'differs' || (outcome.kind === 'unproven' && agreedBlock === null && outcome.facts.length > 0);

  it('1: what was not found out changes nothing else', () =>
    steps((before, { outcome }, { state, effect }) => {
      if (outcome.kind === 'unknown') expect([state, effect]).toEqual([{ ...before, isUnread: true }, null]);
      else expect(state.isUnread).toBe(false);
    }));

  it('2, 6: a difference counts only after an earlier one, and a later block', () =>
    steps((before, { outcome, indexedBlock }, { state, effect }) => {
      if (before.differsSince !== null || state.differsSince === null) return expect(effect).not.toBe('differs');
      expect(effect).toBe('differs');
      expect(isDifference(before, outcome)).toBe(true);
      expect(before.suspectedAtBlock).toBeLessThan(indexedBlock);
    }));

  it('3, 4: agreement ends a difference; otherwise the block of agreement stays', () =>
    steps((before, { outcome }, { state }) => {
      if (outcome.kind === 'unproven' && !isDifference(before, outcome))
        expect(state).toMatchObject({ differsSince: null, suspectedAtBlock: null });
      if (outcome.kind !== 'agrees') return expect(state.agreedBlock).toBe(before.agreedBlock);
      expect(state).toMatchObject({ agreedBlock: outcome.block, differsSince: null, suspectedAtBlock: null });
      expect(state.differences).toEqual([]);
    }));

  it('5: differences that count, and they alone, set the time of the last one', () =>
    steps((before, { outcome, now }, { state }) => {
      const counts = isDifference(before, outcome) && state.differsSince !== null;
      expect(state.lastDifferenceAt).toBe(counts ? now : before.lastDifferenceAt);
    }));
});
