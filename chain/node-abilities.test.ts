import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import { type Ability, NodeAbilities } from './node-abilities.ts';

const ability = fc.constantFrom<Ability>('stateOverrides', 'transfers', 'accessLists');
const step = fc.record({
  ability,
  does: fc.constantFrom('lacks', 'has', 'nothing'),
  ms: fc.integer({ min: 0, max: 40_000 }),
});

test('what nodes lacked is tried again a minute after the last time, and logged once until it works', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let now = 0;
      const logged: string[] = [];
      const logger = { warn: () => void logged.push('warn'), info: () => void logged.push('info') };
      const abilities = new NodeAbilities(logger, () => now);
      const lackedAt = new Map<Ability, number>();
      const expected: string[] = [];
      const lacking = new Set<Ability>();
      for (const each of steps) {
        now += each.ms;
        if (each.does === 'lacks') {
          if (!lacking.has(each.ability)) expected.push('warn');
          lacking.add(each.ability);
          lackedAt.set(each.ability, now);
          abilities.lacks(each.ability);
        }
        if (each.does === 'has') {
          if (lacking.delete(each.ability)) expected.push('info');
          abilities.has(each.ability);
        }
        for (const one of ['stateOverrides', 'transfers', 'accessLists'] as const)
          expect(abilities.mayHave(one)).toBe(now - (lackedAt.get(one) ?? Number.NEGATIVE_INFINITY) >= 60_000);
      }
      expect(logged).toEqual(expected);
    }),
    { numRuns: runs(50) },
  );
});
