import { describe, expect, it, test } from 'vitest';
import { judge } from './verdict.ts';

/** Observations are numbers: one reading holds them to be even, another to be below a hundred. */
interface Seen {
  readonly name: string;
  readonly seen: number;
}
const interpretations = [
  { name: 'even', agrees: ({ seen }: Seen) => seen % 2 === 0 },
  { name: 'small', agrees: ({ seen }: Seen) => seen < 100 },
];
const judged = (all: readonly number[]) =>
  judge(
    'numbers',
    interpretations,
    all.map((seen, index) => ({ name: `${index}: ${seen}`, seen })),
  );

test.each([
  ['one reading alone agrees with all', [2, 4, 6, 100, 102], 'even'],
  ['the other one does', [1, 3, 5, 2, 4], 'small'],
  ['both agree', [2, 4, 6, 8, 10], null],
  ['none agrees', [1, 2, 4, 6, 100, 102], null],
  ['there are four observations', [2, 4, 100, 102], null],
  ['a single one distinguishes them', [2, 4, 6, 8, 100], null],
  ['there are none', [], null],
] as const)('%s', (_, seen, decided) => {
  expect(judged(seen).decided).toBe(decided);
});

describe('evidence', () => {
  it('counts, and shows the first contradictions of each reading', () => {
    expect(judged([1, 2, 3, 5, 7, 101])).toEqual({
      what: 'numbers',
      decided: null,
      observations: 6,
      decisive: 5,
      interpretations: [
        { name: 'even', agreed: 1, contradicted: 5, examples: ['0: 1', '2: 3', '3: 5'] },
        { name: 'small', agreed: 5, contradicted: 1, examples: ['5: 101'] },
      ],
    });
  });
});
