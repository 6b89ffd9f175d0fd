import fc from 'fast-check';
import { expect, test } from 'vitest';
import { leftMs, NEW_TERM, nextTerm } from './term.ts';

const DURATION_MS = 1_000;

/** Requests that wait for their answers, which come in any order, late or never; the holder may end the term. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 300 }) }) },
  {
    weight: 24,
    arbitrary: fc.record({ do: fc.constantFrom('ask' as const, 'redis' as const, 'answer' as const), at: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const) }) },
);

test('property: a term is over before Redis gives the lease to another, and never begins again', () => {
  let held = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 80 }), (steps) => {
      let [now, term, keptUntil, hasEnded] = [0, NEW_TERM, Number.NEGATIVE_INFINITY, false];
      const asked: number[] = [];
      const answered: number[] = [];
      for (const each of steps) {
        if (each.do === 'wait') now += each.ms;
        if (each.do === 'ask') asked.push(now);
        if (each.do === 'redis' && asked.length > 0 && (keptUntil > now || keptUntil < 0)) {
          answered.push(...asked.splice(each.at % asked.length, 1));
          keptUntil = now + DURATION_MS;
        }
        if (each.do === 'answer' && answered.length > 0) {
          const [askedAt = 0] = answered.splice(each.at % answered.length, 1);
          term = nextTerm(term, { kind: 'granted', askedAt }, DURATION_MS);
        }
        if (each.do === 'end') {
          term = nextTerm(term, { kind: 'ended' }, DURATION_MS);
          hasEnded = true;
        }
        if (leftMs(term, now) === 0) continue;
        held += 1;
        expect([keptUntil > now, hasEnded]).toEqual([true, false]);
      }
    }),
  );
  expect(held).toBeGreaterThan(50);
});
