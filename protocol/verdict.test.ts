import { describe, expect, it, test } from 'vitest';
import { judge } from './verdict.ts';

/** Observations are numbers: one reading holds them to be even, another to be below a hundred. */
const hypotheses = [
  { name: 'even' as const, contradiction: (seen: number) => (seen % 2 === 0 ? null : `${seen} is odd`) },
  { name: 'small' as const, contradiction: (seen: number) => (seen < 100 ? null : `${seen} is large`) },
];

test.each([
  ['one reading alone agrees with all', [2, 4, 6, 100, 102], 'even'],
  ['the other one does', [1, 3, 5, 2, 4], 'small'],
  ['both agree', [2, 4, 6, 8, 10], null],
  ['none agrees', [1, 2, 4, 6, 100, 102], null],
  ['there are four observations', [2, 4, 100, 102], null],
  ['a single one tells them apart', [2, 4, 6, 8, 100], null],
  ['there are none', [], null],
] as const)('%s', (_, seen, decided) => {
  expect(judge(hypotheses, seen).decided).toBe(decided);
});

describe('evidence', () => {
  it('counts, and shows the first contradictions of each reading', () => {
    expect(judge(hypotheses, [1, 2, 3, 5, 7, 101])).toEqual({
      decided: null,
      observations: 6,
      decisive: 5,
      readings: [
        {
          name: 'even',
          agreed: 1,
          contradicted: 5,
          examples: [
            { observation: 0, why: '1 is odd' },
            { observation: 2, why: '3 is odd' },
            { observation: 3, why: '5 is odd' },
          ],
        },
        { name: 'small', agreed: 5, contradicted: 1, examples: [{ observation: 5, why: '101 is large' }] },
      ],
    });
  });
});
