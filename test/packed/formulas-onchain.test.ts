import fc from 'fast-check';
import { encodeFunctionData } from 'viem';
import { describe, expect, it } from 'vitest';
import { PACKED_VARIANTS } from '../../devnet/packed/variants.ts';
import { flatAdapter } from '../../protocol/layouts/flat/adapter.ts';
import { flatPoolFunctions } from '../../protocol/layouts/flat/pool-abi.ts';
import { type PricedPool, pricePool } from '../../protocol/layouts/ladder.ts';
import { planFit } from '../../protocol/layouts/packed/fit-plan.ts';
import { agreeingFormulas } from '../../protocol/layouts/packed/formulas.ts';
import { poolStateOf, quoteUpTo } from '../../protocol/layouts/packed/pool-state.fixture.ts';
import { assertUntil } from '../harness/assert-until.ts';
import { startedWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import {
  anyPricedPool,
  callPool,
  overrides,
  type PackedTestPool,
  simulate,
  startedTestPools,
  startPackedChain,
} from './packed-chain.ts';

const RUNS = runs(6);
const PRICES = encodeFunctionData({ abi: flatPoolFunctions, functionName: 'getSellAndBuyPrices' });
const CANDIDATES = ['older', 'sumOnEdges', 'productOnEdges', 'sumOnPrice', 'productOnPrice'];

const packedChain = startedWorld(startPackedChain);

describe.each(PACKED_VARIANTS)('pools that charge by the rule $rule', (variant) => {
  const { rule } = variant;
  const amounts = { minBits: 66, maxBits: 80, empty: false };
  const made = startedTestPools(packedChain, variant, [
    [18, 18],
    [18, 6],
    [6, 18],
  ]);

  it(CANDIDATES.includes(rule) ? 'agree with their formula, some with it alone' : 'agree with no formula', async () => {
    let alone = 0;
    const drawn = anyPricedPool(made.pools, amounts);
    const property = fc.asyncProperty(drawn, async ({ pool, priced }) => {
      // Where nothing is charged, no rule differs from another.
      const { bins, notionalFeeE8 } = priced.state;
      fc.pre(notionalFeeE8 > 0 || bins.some(({ addFeeBuyE6, addFeeSellE6 }) => addFeeBuyE6 + addFeeSellE6 > 0));
      const { agreeing, answers } = await judged(pool, priced);
      expect(answers).toBeGreaterThanOrEqual(5);
      if (CANDIDATES.includes(rule)) expect(agreeing).toContain(rule);
      else expect(agreeing).toEqual([]);
      if (agreeing?.length === 1) alone += 1;
    });
    await assertUntil(() => alone > 0 || !CANDIDATES.includes(rule), property, { numRuns: RUNS });
  });

  it('agree with none as long as they answered too few swaps', async () => {
    const [pool] = made.pools;
    if (pool === undefined) throw new Error('no pool');
    const [priced] = fc
      .sample(fc.tuple(poolStateOf(pool.immutables, amounts), quoteUpTo(4)), { numRuns: 1, seed: 7 })
      .map(([state, quote]) => pricePool(state, quote));
    if (priced === undefined) throw new Error('no state');
    expect((await judged(pool, priced, 4)).agreeing).toBeNull();
  });
});

async function judged(pool: PackedTestPool, priced: PricedPool, most = 100) {
  const [answer] = await callPool(packedChain, pool, [PRICES], overrides(pool, priced));
  const prices = answer ? flatAdapter.prices.decode(answer) : 'unread';
  if (typeof prices === 'string') throw new Error(`no prices: ${prices}`);
  const probes = [true, false]
    .flatMap((zeroForOne) => planFit(priced, zeroForOne, 500, true))
    .flatMap(({ zeroForOne, probes }) => probes.map((amountSpecified) => ({ zeroForOne, amountSpecified })))
    .slice(0, most);
  const fills = await simulate(packedChain, pool, priced, probes);
  const agreeing = agreeingFormulas(priced, prices, probes, fills);
  return { agreeing, answers: fills.filter((fill) => fill !== null).length };
}
