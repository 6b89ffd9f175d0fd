import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { computeSwap } from '../../test/protocol/flat-swap.ts';
import { flatSimulation } from '../layouts/flat/adapter.ts';
import { walkSides } from '../layouts/flat/geometry.ts';
import { pricedPool } from '../layouts/flat/pool-state.fixture.ts';
import { poolCurve } from '../layouts/pool-side.ts';
import { closedSides, tokenLimits, withinTransfers } from './transfer-limits.ts';

const PARTS = 1_000_000n;
const part = fc.bigInt(0n, PARTS + 200_000n);

test('no amount within a side brings in or takes out more than moves, and sides are cut for nothing else', () => {
  let cut = 0;
  fc.assert(
    fc.property(pricedPool, fc.option(part), fc.option(part), fc.boolean(), (priced, partIn, partOut, zeroForOne) => {
      const curve = poolCurve(walkSides(priced), flatSimulation, 'flat');
      const side = zeroForOne ? curve.bids : curve.asks;
      const end = side.levels.at(-1);
      if (!end) return;
      const most = (of: bigint, parts: bigint | null) => (parts === null ? null : (of * parts) / PARTS);
      const [mostIn, mostOut] = [most(end.cumulativeInput, partIn), most(end.cumulativeOutput, partOut)];
      const [input, output] = [
        { in: mostIn, out: null },
        { in: null, out: mostOut },
      ];
      const limits = zeroForOne ? { token0: input, token1: output } : { token0: output, token1: input };
      const whole = { bids: curve.bids.levels, asks: curve.asks.levels };
      const within = withinTransfers(curve, whole, limits);
      const levels = zeroForOne ? within.bids : within.asks;
      expect(zeroForOne ? within.asks : within.bids).toEqual(zeroForOne ? whole.asks : whole.bids);
      const swap = (amount: bigint) => computeSwap(priced, { zeroForOne, kind: 'exactInput', amount });
      const isWithin = (amount: bigint) =>
        (mostIn === null || amount <= mostIn) && (mostOut === null || swap(amount).amountOut <= mostOut);
      const last = levels?.at(-1);
      if (last) expect(isWithin(last.cumulativeInput)).toBe(true);
      if (isWithin(end.cumulativeInput) && mostIn !== 0n && mostOut !== 0n) expect(levels).toEqual(side.levels);
      else if (last) {
        cut += 1;
        const { cumulativeInput: reached } = last;
        const hair = 2n + (end.cumulativeInput - reached) / 1_000n;
        expect(isWithin(reached + hair) && reached + hair < end.cumulativeInput).toBe(false);
      }
    }),
    { numRuns: runs(600) },
  );
  expect(cut).toBeGreaterThan(50);
});

test.each([
  [
    'all of it moves',
    { held: 9n, balance: 9n, moved: { amount: 9n, sent: 9n, received: 9n } },
    { out: null, in: null },
  ],
  ['nothing was tried', { held: 9n, balance: 12n, moved: null }, { out: null, in: null }],
  [
    'the balance is lower',
    { held: 9n, balance: 4n, moved: { amount: 4n, sent: 4n, received: 4n } },
    { out: 4n, in: null },
  ],
  ['it is limited', { held: 9n, balance: 9n, moved: { amount: 9n, sent: 5n, received: 3n } }, { out: 5n, in: 3n }],
  ['nothing moves', { held: 9n, balance: null, moved: { amount: 9n, sent: 0n, received: 0n } }, { out: 0n, in: 0n }],
] as const)('of a token of which %s', (_what, { held, balance, moved }, limits) => {
  expect(tokenLimits(held, balance, moved)).toEqual(limits);
});

test('a side is closed when nothing of its input or its output moves', () => {
  const free = { out: null, in: null };
  const stuck = { out: 0n, in: 0n };
  expect(closedSides({ token0: free, token1: free })).toEqual({ bids: false, asks: false });
  expect(closedSides({ token0: stuck, token1: free })).toEqual({ bids: true, asks: true });
  expect(closedSides({ token0: { out: 0n, in: null }, token1: free })).toEqual({ bids: false, asks: true });
  expect(closedSides({ token0: free, token1: { out: null, in: 0n } })).toEqual({ bids: false, asks: true });
});
