import fc from 'fast-check';
import { toHex } from 'viem';
import { expect, test } from 'vitest';
import { WarmBudgetConfig } from '../../config/read-budget-schema.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import type { ExtensionKind, ServedPool } from '../snapshots/pool-directory.ts';
import { CallPacking } from './call-packing.ts';
import { PaidReads, type WantedRead } from './paid-reads.ts';
import { type KnownRank, readCost } from './read-cost.ts';
import { type Tier, TieredBudget } from './tiered-budget.ts';
import { wantKey } from './wanted-pools.ts';

/** A pool that may be requested, and by whom. */
interface Requested {
  readonly pool: ServedPool;
  readonly rank: KnownRank;
  readonly isFunded: boolean;
  readonly byKey: boolean;
  readonly withDepth: boolean;
}

interface Shape {
  readonly layout: 'flat' | 'packed';
  readonly guard: ExtensionKind | null;
  readonly bins: number;
}

const address = (number: number) => toHex(number, { size: 20 });
const token = (number: number) => ({ address: address(number), symbol: `T${number}`, decimals: 18 });

const poolOf = (number: number, { layout, guard, bins }: Shape): ServedPool => ({
  chainId: 7,
  address: address(100 + number),
  contractVersion: 'v1',
  layout,
  pair: 'T1/T2',
  token0: token(1),
  token1: token(2),
  immutableProvider: null,
  stopLossMark: 'mid',
  extensions: guard ? [{ address: address(3), kind: guard, phases: ['beforeSwap', 'afterSwap'] }] : [],
  immutables: { lowestBin: 1 - bins, highestBin: bins - 1, scale: tokenScale(18, 18) },
});

const requested = fc
  .record({
    layout: fc.constantFrom('flat' as const, 'packed' as const),
    guard: fc.constantFrom(null, 'stopLoss' as const, 'custom' as const),
    bins: fc.integer({ min: 1, max: 60 }),
    rank: fc.constantFrom<KnownRank>('formula', 'fit', 'simulation', undefined),
    isFunded: fc.boolean(),
    byKey: fc.boolean(),
    withDepth: fc.boolean(),
  })
  .map(({ layout, guard, bins, rank, ...by }) => ({
    shape: { layout, guard, bins },
    rank: layout === 'flat' ? undefined : rank,
    ...by,
  }));
const pools = fc
  .array(requested, { minLength: 1, maxLength: 40 })
  .map((list) => list.map(({ shape, ...by }, index): Requested => ({ pool: poolOf(index, shape), ...by })));
const budgets = fc.record({
  callsPerMinute: fc.integer({ min: 144, max: 2_000 }),
  gasPerMinute: fc.integer({ min: 500_000_000, max: 50_000_000_000 }),
  wantedPct: fc.integer({ min: 1, max: 90 }),
});
const blockMs = fc.constantFrom(250, 1_000, 2_000, 12_000);

/** Reads ahead with a clock of its own, and tells what each block paid for. */
function start(all: readonly Requested[], budget: WarmBudgetConfig) {
  let now = 0;
  const byAddress = new Map(all.map((entry) => [entry.pool.address, entry]));
  const taken: { readonly at: number; readonly calls: number; readonly gas: number }[] = [];
  const tiers = new TieredBudget(budget, () => now);
  const paidReads = new PaidReads({
    budget: {
      take(tier, amount) {
        const before = tiers.spent();
        const isTaken = tiers.take(tier, amount);
        const after = tiers.spent();
        const [calls, gas] = [after.calls - before.calls, after.gas - before.gas];
        if (isTaken) taken.push({ at: now, calls, gas });
        else expect([calls, gas]).toEqual([0, 0]);
        return isTaken;
      },
    },
    hasWorth: (pool) => byAddress.get(pool.address)?.isFunded === true,
    rankOf: (pool) => byAddress.get(pool.address)?.rank,
  });
  const readOf = ({ pool, withDepth, byKey }: Requested): WantedRead => ({
    pool,
    kind: withDepth ? 'depths' : 'prices',
    byKey,
    isRead: false,
  });
  const nextBlock = (wanted: readonly Requested[], afterMs: number): ReadonlySet<string> => {
    now += afterMs;
    return paidReads.pay(wanted.map(readOf));
  };
  return { nextBlock, taken };
}

const keyOf = ({ pool, withDepth }: Requested) =>
  wantKey({ address: pool.address, kind: withDepth ? 'depths' : 'prices' });
const costOf = ({ pool, withDepth, rank }: Requested) => readCost(pool, withDepth, rank);
const tierOf = ({ byKey, isFunded }: Requested): Tier => (byKey ? 'keyed' : isFunded ? 'funded' : 'others');

test('property: a budget of 144 calls can save up those of any pool', () => {
  fc.assert(
    fc.property(pools, (all) => {
      const budget = WarmBudgetConfig.parse({ callsPerMinute: 144 });
      for (const entry of all) expect(start(all, budget).nextBlock([entry], 0).size).toBe(1);
    }),
  );
});

test('property: no minute takes more calls or gas than the budget has, whatever is requested when', () => {
  const block = fc.record({ afterMs: fc.integer({ min: 0, max: 15_000 }), from: fc.nat(19), count: fc.nat(20) });
  const blocks = fc.array(block, { minLength: 20, maxLength: 150 });
  fc.assert(
    fc.property(pools, budgets, blocks, (all, budget, list) => {
      const { nextBlock, taken } = start(all, budget);
      for (const { afterMs, from, count } of list) nextBlock(all.slice(from, from + count), afterMs);
      for (const { at: end } of taken) {
        const inMinute = taken.filter(({ at }) => at > end - 60_000 && at <= end);
        const calls = inMinute.reduce((sum, each) => sum + each.calls, 0);
        const gas = inMinute.reduce((sum, each) => sum + each.gas, 0);
        expect(calls).toBeLessThanOrEqual(budget.callsPerMinute);
        expect(gas).toBeLessThanOrEqual(budget.gasPerMinute + 1);
      }
    }),
    { numRuns: 60 },
  );
});

test('property: what keys request is read as if nobody else requested anything', () => {
  const arrival = fc.record({ afterMs: fc.integer({ min: 0, max: 5_000 }), come: fc.nat(19), go: fc.nat(19) });
  const arrivals = fc.array(arrival, { minLength: 20, maxLength: 150 });
  fc.assert(
    fc.property(pools, budgets, arrivals, (all, budget, list) => {
      const [alone, among] = [start(all, budget), start(all, budget)];
      const wanted = new Set<Requested>();
      for (const { afterMs, come, go } of list) {
        const [coming, going] = [all[come], all[go]];
        if (going) wanted.delete(going);
        if (coming) wanted.add(coming);
        const keyed = [...wanted].filter(({ byKey }) => byKey);
        // Anonymous clients request the same pools too, with depth.
        const others = keyed.filter(({ withDepth }) => !withDepth);
        const more = others.map((entry) => ({ ...entry, withDepth: true, byKey: false }));
        const paidAlone = alone.nextBlock(keyed, afterMs);
        const paid = among.nextBlock([...more, ...wanted], afterMs);
        expect(keyed.filter((entry) => paid.has(keyOf(entry)))).toEqual(
          keyed.filter((entry) => paidAlone.has(keyOf(entry))),
        );
      }
    }),
    { numRuns: 100 },
  );
});

test('property: every pool is read again within the blocks in which its tier pays for all of it', () => {
  fc.assert(
    fc.property(pools, budgets, blockMs, (all, budget, afterMs) => {
      const { nextBlock } = start(all, budget);
      const bounds = new Map((['keyed', 'funded', 'others'] as const).map((tier) => [tier, boundOf(tier)]));
      const blocks = 3 * Math.max(...bounds.values()) + 10;
      const readAt = new Map<Requested, number>();
      const late: unknown[] = [];
      for (let block = 1; block <= blocks; block++) {
        const paid = nextBlock(all, afterMs);
        for (const each of all) {
          const unread = block - (readAt.get(each) ?? 0);
          if (unread > (bounds.get(tierOf(each)) ?? 0)) late.push({ block, unread, each });
          if (paid.has(keyOf(each))) readAt.set(each, block);
        }
      }
      expect(late).toEqual([]);

      /** As if no pools shared calls: blocks until the part of the tier pays for the calls, and for the gas, of all its pools. */
      function boundOf(tier: Tier): number {
        const costs = all
          .filter((each) => tierOf(each) === tier)
          .map((each) => new CallPacking().extra('', costOf(each)));
        const part = tier === 'keyed' ? 100 - budget.wantedPct : budget.wantedPct / 2;
        const saved = tier === 'keyed' ? 1 / 8 : 1 / 16;
        const blocksFor = (unit: 'calls' | 'gas', perMinute: number) => {
          const most = saved * perMinute;
          const perBlock = Math.min(most, (((0.75 * perMinute * part) / 100) * afterMs) / 60_000);
          const total = costs.reduce((sum, cost) => sum + Math.min(cost[unit], most), 0);
          // What is in the bucket may fall short of the next pool's, and what comes beyond its size is lost.
          const wasted = tier === 'keyed' ? 1 : 2;
          return Math.ceil((total * wasted) / perBlock) + 1;
        };
        return blocksFor('calls', budget.callsPerMinute) + blocksFor('gas', budget.gasPerMinute) + 1;
      }
    }),
    { numRuns: 30 },
  );
});

test('four calls a block of a budget that pays for three are read at two blocks of three, to the end', () => {
  const guarded = poolOf(0, { layout: 'flat', guard: 'stopLoss', bins: 4 });
  const entry = { pool: guarded, rank: undefined, isFunded: true, byKey: true, withDepth: true };
  expect(new CallPacking().extra('', costOf(entry)).calls).toBe(4);
  const { nextBlock } = start([entry], { callsPerMinute: 240, gasPerMinute: 4_000_000_000, wantedPct: 10 });
  let read = 0;
  for (let block = 0; block < 3_600; block++) read += nextBlock([entry], 1_000).size;
  // 162 calls a minute come back evenly.
  expect(read).toBeGreaterThan((3_600 * 162) / 240 - 1);
});

test('32 pools with depth, guarded ones and packed ones among them, are read at every second by the defaults', () => {
  const shape = (index: number): Shape => ({
    layout: index < 28 ? 'flat' : 'packed',
    guard: index === 0 ? 'custom' : index % 6 === 0 ? 'stopLoss' : null,
    bins: 8,
  });
  for (const byKey of [true, false]) {
    const all = Array.from({ length: 32 }, (_, index): Requested => {
      const rank = index < 28 ? undefined : index % 2 === 0 ? 'formula' : 'fit';
      return { pool: poolOf(index, shape(index)), rank, isFunded: index !== 5, byKey, withDepth: true };
    });
    const { nextBlock } = start(all, WarmBudgetConfig.parse({}));
    const sizes = Array.from({ length: 600 }, () => nextBlock(all, 1_000).size);
    expect(new Set(sizes)).toEqual(new Set([32]));
  }
});

test('a read that costs more than its tier has is waited for; what is cheaper and came later is not read before it', () => {
  const simulated = { pool: poolOf(0, { layout: 'packed', guard: 'stopLoss', bins: 4 }), rank: 'simulation' as const };
  const plain = { pool: poolOf(1, { layout: 'flat', guard: null, bins: 4 }), rank: undefined };
  const by = { isFunded: true, byKey: true, withDepth: true };
  const all = [simulated, plain].map((each) => ({ ...each, ...by }));
  const { nextBlock } = start(all, { callsPerMinute: 144, gasPerMinute: 50_000_000_000, wantedPct: 10 });
  const turns: string[] = [];
  for (let block = 0; block < 200; block++) {
    for (const key of nextBlock(all, 1_000)) turns.push(key);
  }
  const simulatedTurns = turns.filter((key) => key === keyOf(all[0] as Requested)).length;
  expect(simulatedTurns).toBeGreaterThan(20);
  expect(Math.abs(turns.length - 2 * simulatedTurns)).toBeLessThanOrEqual(20);
});

test('a pool that waits is not overtaken by pools that come all the while', () => {
  const plain: Shape = { layout: 'flat', guard: null, bins: 1 };
  const guarded: Shape = { layout: 'flat', guard: 'custom', bins: 1 };
  const entryOf = (index: number, shape: Shape): Requested => ({
    pool: poolOf(index, shape),
    rank: undefined,
    isFunded: false,
    byKey: false,
    withDepth: true,
  });
  const waiting = entryOf(0, plain);
  const newcomers = Array.from({ length: 2_000 }, (_, index) => entryOf(index + 1, guarded));
  const { nextBlock } = start([waiting, ...newcomers], WarmBudgetConfig.parse({ callsPerMinute: 144 }));
  let reads = 0;
  for (let block = 0; block < 200; block++) {
    const paid = nextBlock([...newcomers.slice(10 * block, 10 * block + 10), waiting], 1_000);
    if (paid.has(keyOf(waiting))) reads += 1;
  }
  expect(reads).toBeGreaterThan(20);
});
