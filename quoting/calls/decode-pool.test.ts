import fc from 'fast-check';
import { concatHex, encodeAbiParameters, type Hex, parseAbiParameters, toHex, zeroHash } from 'viem';
import { expect, it } from 'vitest';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { sellAndBuyPrices } from '../../protocol/layouts/flat/geometry.ts';
import { poolStateOf, tradableQuote } from '../../protocol/layouts/flat/pool-state.fixture.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { encodeBin, encodeSlot0 } from '../../test/protocol/flat-storage.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { PriceSnapshot } from '../types.ts';
import { decodePool, type PoolAnswers, withDepth } from './decode-pool.ts';

const pool = flatPool(9, { immutables: { lowestBin: -1, highestBin: 1, scale: tokenScale(18, 18) } });
const block = (number: bigint) => ({ number, hash: toHex(number, { size: 32 }), timestamp: 12n * number });

const success = (data: Hex): CallResult => ({ success: true, data });
const words = (...values: readonly bigint[]): Hex => concatHex(values.map((value) => toHex(value, { size: 32 })));

/** Answers of a pool that trades, as the chain gives them. */
const whole = fc.tuple(poolStateOf(pool.immutables), tradableQuote).map(([state, quote]): Required<PoolAnswers> => {
  const { sellX64, buyX64 } = sellAndBuyPrices(state, quote);
  const storage = [encodeSlot0(state), zeroHash, zeroHash, zeroHash, ...state.bins.map(encodeBin)];
  return {
    storage: success(encodeAbiParameters(parseAbiParameters('bytes32[]'), [storage])),
    quote: success(words(quote.bidX64, quote.askX64)),
    prices: [success(words(sellX64, buyX64)), success(words(5n)), success(words(6n))],
    watched: undefined,
    transfers: undefined,
    committedQuote: undefined,
    stopLoss: undefined,
    velocity: undefined,
    simulated: undefined,
  };
});

/** Answers at two blocks: each part of the later ones is new, gone, or as it was. */
const twoBlocks = fc
  .tuple(whole, whole, fc.array(fc.constantFrom('same', 'new', 'none'), { minLength: 5, maxLength: 5 }))
  .map(([earlier, fresh, changes]) => {
    const failed: CallResult = { success: false, data: '0x' };
    const part = <T>(index: number, one: T, other: T, none: T) =>
      ({ same: one, new: other, none })[changes[index] as 'same' | 'new' | 'none'];
    const prices = earlier.prices?.map((one, index) => part(index, one, fresh.prices?.[index] ?? failed, failed));
    const later: PoolAnswers = {
      storage: part(3, earlier.storage, fresh.storage, failed),
      quote: part(4, earlier.quote, fresh.quote, undefined),
      prices,
    };
    return { earlier, later };
  });

/** What a client can see of a snapshot, its depth with it. */
function seen(read: PriceSnapshot | SnapshotError) {
  if (read instanceof SnapshotError) return read.message;
  const curve = typeof read.curve === 'function' ? read.curve() : null;
  return withDepth(read, { bids: curve?.bids.levels ?? null, asks: curve?.asks.levels ?? null });
}

it('a pool is what its answers say, whatever it was at an earlier block', () => {
  fc.assert(
    fc.property(twoBlocks, ({ earlier, later }) => {
      const before = decodePool({ pool }, block(1n), 100, earlier);
      if (before instanceof SnapshotError) throw before;
      const read = decodePool({ pool, before }, block(2n), 101, later);
      expect(seen(read)).toEqual(seen(decodePool({ pool }, block(2n), 101, later)));
    }),
    { numRuns: runs(80) },
  );
});

it('a pool whose answers did not change keeps its curve, unless what is known of it changed', () => {
  fc.assert(
    fc.property(whole, (answers) => {
      const before = decodePool({ pool }, block(1n), 100, answers);
      if (before instanceof SnapshotError) throw before;
      expect(decodePool({ pool, before }, block(2n), 101, answers)).toHaveProperty('curve', before.curve);
      const listedAgain = { ...pool };
      const read = decodePool({ pool: listedAgain, before }, block(2n), 101, answers);
      expect(read).toHaveProperty('pool', listedAgain);
    }),
    { numRuns: runs(10) },
  );
});
