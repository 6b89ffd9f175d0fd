import fc from 'fast-check';
import type { StateOverride } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import type { BidAsk } from '../../protocol/curve.ts';
import type { DepthLevel } from '../../protocol/depth.ts';
import { E6 } from '../../protocol/fixed-point.ts';
import { flatAdapter } from '../../protocol/layouts/flat/adapter.ts';
import { pricePool, walkSides } from '../../protocol/layouts/flat/geometry.ts';
import { poolStateOf, quoteUpTo } from '../../protocol/layouts/flat/pool-state.fixture.ts';
import { invertPrices } from '../../protocol/layouts/flat/quote-inversion.ts';
import type { SideCurve } from '../../protocol/layouts/side-curve.ts';
import { binSlot, HEAD_SLOTS } from '../../protocol/layouts/storage.ts';
import type { PoolState } from '../../protocol/pool-state.ts';
import { startedWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import { levelAtOutput } from './flat-level.ts';
import { encodeBin, encodePair, encodeSlot0 } from './flat-storage.ts';
import { computeSwap } from './flat-swap.ts';
import {
  type CallResult,
  callMany,
  createTestPool,
  evenShapes,
  quotingCode,
  simulation,
  startPoolChain,
  type TestPool,
  totalsOf,
} from './pool-chain.ts';
import { decodeSimulation } from './simulation-outcome.ts';

/** Balances that the pool's own limits (104 bits a bin, 127 bits a swap) let trade at every price used here. */
const MAX_AMOUNT_BITS = 80;
const MAX_PRICE_BITS = 18;

const poolChain = startedWorld(startPoolChain);
let pools: TestPool[];

beforeAll(async () => {
  pools = [];
  for (const decimals of [
    [18, 6],
    [6, 18],
    [8, 8],
    [18, 18],
    [24, 6],
  ] as const) {
    pools.push(await createTestPool(poolChain, { decimals, bins: evenShapes(-3, 3) }));
  }
  pools.push(await createTestPool(poolChain, { decimals: [18, 18], bins: evenShapes(0, 0) }));
});

interface Random {
  readonly pool: TestPool;
  readonly state: PoolState;
  readonly quote: BidAsk;
}

const random = (): fc.Arbitrary<Random> =>
  fc.constantFrom(...pools).chain((pool) =>
    fc.record({
      pool: fc.constant(pool),
      state: poolStateOf(pool.immutables, MAX_AMOUNT_BITS),
      quote: quoteUpTo(MAX_PRICE_BITS),
    }),
  );

/** Puts a state into the pool's storage and a quote into its provider's mouth, for one call. */
function overrides({ pool, state, quote }: Random): StateOverride {
  const [slot0, slot1] = HEAD_SLOTS;
  if (slot0 === undefined || slot1 === undefined) throw new Error('no head slots');
  return [
    { address: pool.provider, code: quotingCode(quote) },
    {
      address: pool.address,
      stateDiff: [
        { slot: slot0, value: encodeSlot0(state) },
        { slot: slot1, value: encodePair(totalsOf(state)) },
        ...state.bins.map((bin, index) => ({ slot: binSlot(state.lowestBin + index), value: encodeBin(bin) })),
      ],
    },
  ];
}

function sidesOf({ state, quote }: Random) {
  return walkSides(pricePool(state, quote));
}

/** Amounts of a simulation, as a trader sees them. */
function traded(result: CallResult | undefined, zeroForOne: boolean): { amountIn: bigint; amountOut: bigint } {
  const outcome = decodeSimulation(result?.returnData ?? '0x');
  if (outcome.kind !== 'simulated') throw new Error(`the simulation ended as ${outcome.kind}`);
  const { amount0Delta, amount1Delta } = outcome;
  return zeroForOne
    ? { amountIn: amount0Delta, amountOut: -amount1Delta }
    : { amountIn: amount1Delta, amountOut: -amount0Delta };
}

/** The levels of a side and a stop inside each of its bins. */
function levelsAndStops(curve: SideCurve, partE6: bigint): readonly DepthLevel[] {
  const stops = curve.steps.map((step) => levelAtOutput(curve, step, (step.slice.available * partE6) / E6));
  return [...curve.levels, ...stops].filter(({ cumulativeInput }) => cumulativeInput > 0n);
}

describe('the computed curve of random pools', () => {
  it("exactly equals the pool's own prices", async () => {
    await fc.assert(
      fc.asyncProperty(random(), async (drawn) => {
        const call = { to: drawn.pool.address, data: flatAdapter.prices.call };
        const [answer] = await callMany(poolChain, [call], overrides(drawn));
        const onChain = flatAdapter.prices.decode({ success: true, data: answer?.returnData ?? '0x' });
        if (typeof onChain === 'string') throw new Error(`no prices: ${onChain}`);
        const { bids, asks } = sidesOf(drawn);
        expect({ sellX64: bids.bestX64, buyX64: asks.bestX64 }).toEqual(onChain);
        const inverted = invertPrices(drawn.state, onChain);
        if (inverted === null) throw new Error('no quote yields these prices');
        const again = sidesOf({ ...drawn, quote: inverted });
        expect({ sellX64: again.bids.bestX64, buyX64: again.asks.bestX64 }).toEqual(onChain);
      }),
      { numRuns: runs(50) },
    );
  });

  it("lies on the pool's own curve within two units of input, at every edge and at stops inside bins", async () => {
    const part = fc.bigInt(1n, E6 - 1n);
    await fc.assert(
      fc.asyncProperty(random(), fc.boolean(), part, async (drawn, zeroForOne, partE6) => {
        const sides = sidesOf(drawn);
        const levels = levelsAndStops(zeroForOne ? sides.bids : sides.asks, partE6);
        const simulate = (amount: bigint) => simulation(drawn.pool, drawn.quote, zeroForOne, amount);
        const probes = levels.flatMap(({ cumulativeInput }) => [
          simulate(cumulativeInput),
          simulate(cumulativeInput > 2n ? cumulativeInput - 2n : 1n),
        ]);
        const results = probes.length === 0 ? [] : await callMany(poolChain, probes, overrides(drawn));
        levels.forEach(({ cumulativeInput, cumulativeOutput }, index) => {
          const exact = traded(results[2 * index], zeroForOne);
          expect(exact.amountOut >= cumulativeOutput).toBe(true);
          expect(exact.amountIn <= cumulativeInput && exact.amountIn >= cumulativeInput - 2n).toBe(true);
          if (cumulativeInput <= 2n) return;
          expect(traded(results[2 * index + 1], zeroForOne).amountOut <= cumulativeOutput).toBe(true);
        });
      }),
      { numRuns: runs(40) },
    );
  });

  it('computes swaps of any size as the pool does, exact input and exact output, unit for unit', async () => {
    const size = fc.nat({ max: MAX_AMOUNT_BITS + 4 }).chain((bits) => fc.bigInt(1n, 1n << BigInt(bits)));
    const request = fc.record({
      zeroForOne: fc.boolean(),
      kind: fc.constantFrom('exactInput', 'exactOutput'),
      scaledAmount: size,
    });
    await fc.assert(
      fc.asyncProperty(random(), fc.array(request, { minLength: 1, maxLength: 8 }), async (drawn, requests) => {
        const { multiplier0, multiplier1 } = drawn.state.scale;
        const swaps = requests.map(({ zeroForOne, kind, scaledAmount }) => {
          const multiplier = zeroForOne === (kind === 'exactInput') ? multiplier0 : multiplier1;
          return { zeroForOne, kind, amount: scaledAmount / multiplier + 1n } as const;
        });
        const probes = swaps.map(({ zeroForOne, kind, amount }) =>
          simulation(drawn.pool, drawn.quote, zeroForOne, kind === 'exactInput' ? amount : -amount),
        );
        const results = await callMany(poolChain, probes, overrides(drawn));
        const priced = pricePool(drawn.state, drawn.quote);
        swaps.forEach((swap, index) => {
          const { amountIn, amountOut } = computeSwap(priced, swap);
          expect(traded(results[index], swap.zeroForOne)).toEqual({ amountIn, amountOut });
        });
      }),
      { numRuns: runs(40) },
    );
  });
});
