import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { CurveSearch, SearchedCurve } from '../../protocol/curve-search.ts';
import { SnapshotError } from '../snapshot-error.ts';
import { ownFailure, readSides, writeSides } from './shared-reads.ts';

const uint = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
const level = fc.record({
  bin: fc.integer({ min: -128, max: 127 }),
  priceX64: uint,
  cumulativeOutput: uint,
  cumulativeInput: uint,
  priceImpactE6: uint,
});
const side = fc.option(fc.array(level, { maxLength: 5 }));

test('sides are read as they were written, to the unit; a closed one stays closed', () => {
  fc.assert(
    fc.property(fc.record({ bids: side, asks: side }), (sides) => {
      const curve = { bids: {}, asks: {} } as unknown as SearchedCurve;
      expect(readSides(JSON.parse(writeSides(sides)), () => curve)).toEqual({ ...sides, curve });
    }),
  );
});

test('a searched curve is computed by the formulas that were found, and not at all without them', () => {
  const curve = { found: { names: ['older'], form: 'x' } } as unknown as SearchedCurve;
  const source: CurveSearch = {
    find: async () => expect.unreachable(),
    byFormulas: (found) => (JSON.stringify(found) === JSON.stringify(curve.found) ? curve : null),
  };
  const sides = { bids: [], asks: null };
  expect(readSides(JSON.parse(writeSides({ ...sides, curve })), source)).toEqual({ ...sides, curve });
  expect(readSides(JSON.parse(writeSides(sides)), source)).toEqual({ ...sides, curve: undefined });
});

test('a failure of the pool is shared, one of the nodes is not', () => {
  const ofPool = new SnapshotError('unavailable', 'no depth of a pool');
  const read = readSides(JSON.parse(writeSides(ownFailure(ofPool))), () => expect.unreachable());
  expect(read).toBeInstanceOf(SnapshotError);
  expect(read).toMatchObject({ code: 'unavailable', message: 'no depth of a pool', retryable: true });
  const cause = new RpcFailure('timeout', 'late');
  const ofNodes = new SnapshotError('read_failed', 'swaps were not simulated', { cause });
  for (const error of [ofNodes, cause, new TypeError('a defect')]) expect(() => ownFailure(error)).toThrow(error);
});
