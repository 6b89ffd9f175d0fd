import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareFacts, FACTS, type FactName, type IndexedFacts, plainFact } from './facts.ts';

const BLOCK = 7;
const at = (proven: ReadonlySet<string> | null, differing: readonly string[] = [], shown: readonly string[] = []) => ({
  block: BLOCK,
  isPublic: proven === null,
  proven: proven ?? new Set<string>(),
  differing,
  shown,
});
const factsOf = (values: Partial<Record<FactName, string>>): IndexedFacts =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, plainFact(name as FactName, value)]));

it('a value of zeros shows nothing', () => {
  for (const value of ['0', '0 0', '0,0,0', '', '0x0000000000000000000000000000000000000000'])
    expect(plainFact('totals', value).shows).toEqual([]);
  for (const value of ['1', '0,10', '-20', '0x00a0']) expect(plainFact('totals', value).shows).toEqual(['totals']);
});

it('a difference of a layout that is not public counts once the fact agreed in a pool of the factory', () => {
  const index = factsOf({ shares: '1,2', admin: '0xa' });
  const chain = { shares: '1,3', admin: '0xa' };
  const unproven = { kind: 'unproven', block: BLOCK, shown: ['admin'], needs: ['shares'], facts: ['shares'] };
  expect(compareFacts(index, chain, at(new Set(['admin'])))).toEqual(unproven);
  const found = { kind: 'differs', block: BLOCK, shown: ['admin'], facts: ['shares'] };
  expect(compareFacts(index, chain, at(new Set(['shares'])))).toEqual(found);
  expect(compareFacts(index, chain, at(null))).toEqual(found);
});

it('a difference of what is inferred counts once it agreed in a pool of the factory, also in a public layout', () => {
  const index = { velocityLimits: { ...plainFact('velocityLimits', '1'), isInferred: true } };
  const found = (proven: readonly string[]) =>
    compareFacts(index, { velocityLimits: '2' }, { ...at(null), proven: new Set(proven) }).kind;
  expect(found([])).toBe('unproven');
  expect(found(['velocityLimits'])).toBe('differs');
});

it('what the index may only count in another way is no difference from the start', () => {
  const index = { shares: { value: '1', shows: [], needs: 'units', mayBe: (value: string) => value === '2' } };
  const found = (shares: string, proven: readonly string[]) => compareFacts(index, { shares }, at(new Set(proven)));
  expect(found('2', [])).toMatchObject({ kind: 'unproven', needs: ['units'], facts: [] });
  expect(found('3', [])).toMatchObject({ kind: 'unproven', needs: ['units'], facts: ['shares'] });
  expect(found('2', ['units'])).toMatchObject({ kind: 'differs', facts: ['shares'] });
});

it('a difference does not end while the chain does not give its fact', () => {
  const index = factsOf({ shares: '1,2', admin: '0xa' });
  expect(compareFacts(index, { shares: '1,2' }, at(null, ['admin']))).toEqual({ kind: 'unknown' });
  expect(compareFacts(index, { shares: '1,2', admin: '0xa' }, at(null, ['admin'])).kind).toBe('agrees');
});

it('a pool agrees no more while the chain does not give a fact that agreed before, if the index still has it', () => {
  const found = (chain: Partial<Record<FactName, string>>, shown: readonly string[]) =>
    compareFacts(factsOf({ shares: '1,2', admin: '0xa' }), chain, at(null, [], shown)).kind;
  expect(found({ shares: '1,2' }, [])).toBe('agrees');
  expect(found({ shares: '1,2' }, ['admin'])).toBe('unknown');
  expect(found({ shares: '1,3' }, ['admin'])).toBe('differs');
  expect(found({ shares: '1,2', admin: '0xa' }, ['admin', 'cursor', 'liquidity'])).toBe('agrees');
});

it('exactly the facts that both sides have and that are unequal differ', () => {
  const values = fc.dictionary(fc.constantFrom(...FACTS), fc.constantFrom('0', '1', '2'));
  fc.assert(
    fc.property(values, values, (index, chain) => {
      const both = FACTS.filter((name) => index[name] !== undefined && chain[name] !== undefined);
      const unequal = both.filter((name) => index[name] !== chain[name]);
      const outcome = compareFacts(factsOf(index), chain, at(null));
      const kind = both.length === 0 ? 'unknown' : unequal.length > 0 ? 'differs' : 'agrees';
      expect(outcome.kind).toBe(kind);
      if (outcome.kind === 'differs') expect(outcome.facts.toSorted()).toEqual(unequal.toSorted());
    }),
  );
});
