import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allPools } from './all-pools.ts';
import type { Operations } from './calls.ts';

const PAGE = 3;

/** A listing in pages of three, in which pools move, come and go before some of the requests. */
function shiftingListing(size: number, changes: readonly { from: number; to: number; isNew: boolean }[]) {
  let pools = Array.from({ length: size }, (_, index) => `0x${index}`);
  const staying = new Set(pools);
  let requests = 0;
  const page = async ({ offset = 0 }: { readonly offset?: number } = {}) => {
    const change = changes[requests++];
    if (change && requests > 1 && pools.length > 0) {
      const [moved = ''] = pools.splice(change.from % pools.length, 1);
      if (change.isNew) staying.delete(moved);
      pools = pools.toSpliced(change.to % (pools.length + 1), 0, change.isNew ? `0xnew${requests}` : moved);
    }
    const data = pools.slice(offset, offset + PAGE).map((poolAddress) => ({ chain: 'a', poolAddress }));
    const next = offset + PAGE;
    return { data, total: pools.length, nextOffset: next < pools.length ? next : null };
  };
  // Of a pool nothing else is read.
  const operations = { listPools: page, listPoolsAcrossChains: page } as unknown as Operations;
  return { operations, staying, requestCount: () => requests };
}

test('yields every pool once that stays listed, whatever moves during two walks', async () => {
  const change = fc.record({ from: fc.nat(40), to: fc.nat(40), isNew: fc.boolean() });
  const listing = fc
    .nat(20)
    .chain((size) => fc.tuple(fc.constant(size), fc.array(change, { maxLength: 2 * Math.ceil(size / PAGE) })));
  await fc.assert(
    fc.asyncProperty(listing, async ([size, moves]) => {
      const { operations, staying } = shiftingListing(size, moves);
      const found: string[] = [];
      for await (const { poolAddress } of allPools(operations, { chainId: 1 })) found.push(poolAddress);
      expect(new Set(found).size).toBe(found.length);
      expect([...staying].filter((pool) => !found.includes(pool))).toEqual([]);
    }),
  );
});

test('finds a pool that moves to an earlier page during the first walk and during the second', async () => {
  const still = { from: 0, to: 0, isNew: false };
  const [early, late] = [
    { from: 3, to: 0, isNew: false },
    { from: 0, to: 3, isNew: false },
  ];
  const { operations, requestCount } = shiftingListing(5, [still, early, late, early]);
  const found: string[] = [];
  for await (const { poolAddress } of allPools(operations)) found.push(poolAddress);
  expect(found.sort()).toEqual(['0x0', '0x1', '0x2', '0x3', '0x4']);
  expect(requestCount()).toBe(8);
});

test('ends with a listing whose pools move during every walk', async () => {
  const walk = [
    { from: 0, to: 3, isNew: false },
    { from: 3, to: 0, isNew: false },
  ];
  const { operations, requestCount } = shiftingListing(5, new Array(20).fill(walk).flat());
  let count = 0;
  for await (const { chain } of allPools(operations)) count += chain === 'a' ? 1 : 0;
  expect(count).toBe(4);
  expect(requestCount()).toBe(6);
});

test('requests a listing of one page once', async () => {
  const { operations, requestCount } = shiftingListing(PAGE, []);
  for await (const pool of allPools(operations)) expect(pool.chain).toBe('a');
  expect(requestCount()).toBe(1);
});
