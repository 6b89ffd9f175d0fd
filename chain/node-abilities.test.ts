import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import { type Ability, hasAbility, isLacking, KNOWN_MS, learn, type NodeAbilities } from './node-abilities.ts';

const ABILITIES = ['stateOverrides', 'oldState', 'logRange'] as const satisfies readonly Ability[];
const SIZES = [-5, 0, 1, 100, 1_000];
const step = fc.record({
  ability: fc.constantFrom(...ABILITIES),
  size: fc.constantFrom(...SIZES),
  has: fc.constantFrom(true, false, null, 'nothing' as const),
  ms: fc.integer({ min: 0, max: KNOWN_MS / 2 }),
});

test('property: a finding holds for a minute, and a node lacks all that is larger than what it lacked', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let now = 0;
      let abilities: NodeAbilities = {};
      const found = new Map<Ability, { has: boolean | null; at: number; sizes: number[] }>();
      for (const { ability, size, has, ms } of steps) {
        now += ms;
        const last = found.get(ability);
        if (has !== 'nothing') {
          const isStillLacking = has === false && last?.has === false && now - last.at < KNOWN_MS;
          found.set(ability, { has, at: now, sizes: isStillLacking ? [...last.sizes, size] : [size] });
          abilities = learn(abilities, { ability, size }, has, now);
        }
        for (const one of ABILITIES) {
          const known = found.get(one);
          const holds = known !== undefined && now - known.at < KNOWN_MS;
          expect(hasAbility(abilities, one, now)).toBe(holds ? known.has : undefined);
          for (const each of SIZES) {
            const lacks = holds && known.has === false && known.sizes.some((lacked) => each >= lacked);
            expect(isLacking(abilities, { ability: one, size: each }, now)).toBe(lacks);
          }
        }
      }
    }),
    { numRuns: runs(50) },
  );
});

test('a node that learns what it lacked is asked again a minute after the last time', () => {
  const need = { ability: 'stateOverrides' } as const;
  const once = learn({}, need, false, 0);
  const twice = learn(once, need, false, KNOWN_MS - 1);
  const lacks = (abilities: NodeAbilities, now: number) => isLacking(abilities, need, now);
  expect([lacks(once, KNOWN_MS - 1), lacks(once, KNOWN_MS)]).toEqual([true, false]);
  expect([lacks(twice, 2 * KNOWN_MS - 2), lacks(twice, 2 * KNOWN_MS - 1)]).toEqual([true, false]);
  expect(lacks(learn(once, need, true, 1), 1)).toBe(false);
});
