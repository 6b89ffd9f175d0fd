import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arrayLiteral } from '../schema/number-list.ts';
import { changeShares, moveBins } from './bins.ts';

const amount = fc.bigInt({ min: -(1n << 104n), max: 1n << 104n });
const pool = fc.record({ lowestBin: fc.integer({ min: -128, max: 0 }), bins: fc.integer({ min: 1, max: 255 }) });
const changes = fc.array(
  fc.record({ pick: fc.nat(), delta0Scaled: amount, delta1Scaled: amount, sharesDelta: amount }),
);

test('every bin holds the sum of its own changes, of each token and of shares', () => {
  fc.assert(
    fc.property(pool, changes, ({ lowestBin, bins }, picks) => {
      const empty = arrayLiteral(Array.from({ length: bins }, () => 0));
      const moves = picks.map(({ pick, ...deltas }) => ({ bin: lowestBin + (pick % bins), ...deltas }));
      const state = { lowestBin, binBalances0Scaled: empty, binBalances1Scaled: empty, binShares: empty };
      const sums = (field: 'delta0Scaled' | 'delta1Scaled' | 'sharesDelta') =>
        Array.from({ length: bins }, (_, index) =>
          moves.filter(({ bin }) => bin === lowestBin + index).reduce((sum, move) => sum + move[field], 0n),
        );
      expect(moveBins(state, moves)).toEqual({
        binBalances0Scaled: arrayLiteral(sums('delta0Scaled')),
        binBalances1Scaled: arrayLiteral(sums('delta1Scaled')),
      });
      expect(changeShares(state, moves)).toBe(arrayLiteral(sums('sharesDelta')));
    }),
  );
});

test.each([-3, 1])('bin %i is none of a pool from -2 to 0', (bin) => {
  const state = { lowestBin: -2, binBalances0Scaled: '{1,2,3}', binBalances1Scaled: '{4,5,6}', binShares: '{7,8,9}' };
  expect(() => moveBins(state, [{ bin, delta0Scaled: 1n, delta1Scaled: 0n }])).toThrow(RangeError);
  expect(() => changeShares(state, [{ bin, sharesDelta: 1n }])).toThrow(RangeError);
});
