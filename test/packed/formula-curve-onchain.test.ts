import fc from 'fast-check';
import { encodeFunctionData } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { PACKED_VARIANTS, type PackedVariant } from '../../devnet/packed/variants.ts';
import { flatAdapter } from '../../protocol/layouts/flat/adapter.ts';
import { flatPoolFunctions } from '../../protocol/layouts/flat/pool-abi.ts';
import { pricePool } from '../../protocol/layouts/ladder.ts';
import { curvePrices, FEE_FORMULAS, formulaCurve } from '../../protocol/layouts/packed/formulas.ts';
import { poolStateOf, quoteUpTo } from '../../protocol/layouts/packed/pool-state.fixture.ts';
import { levelAtInput, swapExactOutput } from '../../protocol/layouts/side-amounts.ts';
import type { SideCurve } from '../../protocol/layouts/side-curve.ts';
import { startedWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import {
  callPool,
  createTestPools,
  MAX_PRICE_BITS,
  overrides,
  type PackedTestPool,
  type Probe,
  simulate,
  startPackedChain,
} from './packed-chain.ts';

/** Random pools of each variant. */
const RUNS = runs(8);

const PRICES = encodeFunctionData({ abi: flatPoolFunctions, functionName: 'getSellAndBuyPrices' });

const packedChain = startedWorld(startPackedChain);

const withFormula = PACKED_VARIANTS.flatMap((variant) => {
  const formula = FEE_FORMULAS.find(({ name }) => name === variant.rule);
  return formula ? [{ rule: variant.rule, variant, formula }] : [];
});

function drawn(pools: readonly PackedTestPool[]) {
  return fc
    .constantFrom(...pools)
    .chain((pool) =>
      fc
        .tuple(poolStateOf(pool.immutables), quoteUpTo(MAX_PRICE_BITS))
        .map(([state, quote]) => ({ pool, priced: pricePool(state, quote) })),
    );
}

const makePools = (variant: PackedVariant) =>
  createTestPools(packedChain, variant, [
    [18, 6],
    [6, 18],
    [8, 8],
    [18, 18],
  ]);

describe.each(withFormula)('the formula $rule, on pools that charge by it', ({ variant, formula }) => {
  let pools: readonly PackedTestPool[];

  beforeAll(async () => {
    pools = await makePools(variant);
  });

  it("has exactly the pool's own prices", async () => {
    await fc.assert(
      fc.asyncProperty(drawn(pools), async ({ pool, priced }) => {
        const [answer] = await callPool(packedChain, pool, [PRICES], overrides(pool, priced));
        if (answer === undefined) throw new Error('no answer');
        expect(curvePrices(formulaCurve(priced, formula))).toEqual(flatAdapter.prices.decode(answer));
      }),
      { numRuns: RUNS },
    );
  });

  it('takes and gives at every edge and around it, for exact inputs and outputs, what the pool does', async () => {
    await fc.assert(
      fc.asyncProperty(drawn(pools), fc.bigInt(1n, 1_000_000n), async ({ pool, priced }, partE6) => {
        const { bids, asks } = formulaCurve(priced, formula);
        for (const side of [bids, asks]) {
          const inputs = inputsOf(side, partE6);
          const outputs = outputsOf(side, partE6);
          const probes: Probe[] = [...inputs, ...outputs.map((amount) => -amount)].map((amountSpecified) => ({
            zeroForOne: side.zeroForOne,
            amountSpecified,
          }));
          const computed = [
            ...inputs.map((amount) => amountsAt(side, amount)),
            ...outputs.map((amount) => swapExactOutput(side, amount)),
          ];
          const isRejected = ({ amountIn, amountOut }: (typeof computed)[number]) =>
            variant.zeroAmounts === 'revert' && (amountIn === 0n || amountOut === 0n);
          const expected = computed.map((amounts) => (isRejected(amounts) ? null : amounts));
          expect(await simulate(packedChain, pool, priced, probes)).toEqual(expected);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

/** Inputs of every level, a unit less and more, and one inside every bin. */
function inputsOf({ levels }: SideCurve, partE6: bigint): readonly bigint[] {
  return levels.flatMap(({ cumulativeInput }, index) => {
    const before = levels[index - 1]?.cumulativeInput ?? 0n;
    const inside = before + ((cumulativeInput - before) * partE6) / 1_000_000n;
    return [cumulativeInput - 1n, cumulativeInput, cumulativeInput + 1n, inside].filter((amount) => amount > 0n);
  });
}

/** Outputs at every edge and inside every bin. */
function outputsOf({ levels, steps, priced, zeroForOne }: SideCurve, partE6: bigint): readonly bigint[] {
  const { multiplier0, multiplier1 } = priced.state.scale;
  return steps
    .flatMap(({ outputBefore, slice }) => {
      const edge = (outputBefore + slice.available) / (zeroForOne ? multiplier1 : multiplier0);
      return [edge, edge + 1n, (edge * partE6) / 1_000_000n];
    })
    .filter((amount) => amount > 0n && levels.length > 0);
}

function amountsAt(side: SideCurve, input: bigint) {
  const level = levelAtInput(side, input);
  return { amountIn: level?.cumulativeInput, amountOut: level?.cumulativeOutput };
}
