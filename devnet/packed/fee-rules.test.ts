import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BinShape } from '../../protocol/pool-events.ts';
import { administer } from '../actions.ts';
import { packedSimulation } from './actions.ts';
import { named, ONE, PackedMarket, quoteAround } from './market.fixture.ts';
import { SideOfBin } from './model-prices.fixture.ts';
import { readPackedState } from './storage.fixture.ts';
import { PACKED_VARIANTS } from './variants.ts';

/** One wide bin with fees of its own. */
const BIN: BinShape = { bin: 0, lengthE6: 40_000, addFeeBuyE6: 900, addFeeSellE6: 400 };
const E18 = 10n ** 18n;

describe.each(PACKED_VARIANTS)('by the rule $rule', (variant) => {
  const { rule } = variant;
  let market: PackedMarket;

  beforeAll(async () => {
    market = await PackedMarket.open(variant);
  });

  afterAll(() => market.setup.anvil.stop());

  test.each([false, true])(
    `one factor ${rule === 'growing' ? 'fails to show' : 'shows'} what inputs are, sale: %s`,
    async (zeroForOne) => {
      const { chain, deployment } = market.setup;
      const pool = await market.fundedPool(undefined, undefined, { bins: [BIN] });
      await administer(chain, deployment, {
        from: chain.roles.curator,
        functionName: 'setPoolAdminFees',
        args: [pool.pool, 100_000, 50_000],
      });
      await market.buy(pool, 40n * ONE);
      const { bins, ...head } = await readPackedState(chain, pool.pool, [0]);
      const bin = bins.get(0);
      if (bin === undefined) throw new Error('the pool has no bin 0');
      const quote = quoteAround(200n);
      const side = new SideOfBin(rule, quote, { ...head, zeroForOne, bin });
      const factors: bigint[] = [];
      for (const part of [10n, 50n, 100n]) {
        const output = (side.available * part) / 100n;
        const order = { pool: pool.pool, zeroForOne, amountSpecified: -output };
        const { args } = named(await packedSimulation(chain, deployment, { ...order, ...quote }));
        const [amount0, amount1] = args as [bigint, bigint];
        factors.push(((zeroForOne ? amount0 : amount1) * E18) / side.cost(output).net);
      }
      const [first = 0n, ...others] = factors;
      expect(first).toBeGreaterThan(E18 + E18 / 2_000n);
      for (const factor of others) {
        // Units of 10^-18: one part in 10^12 is a million of them.
        const apart = factor > first ? factor - first : first - factor;
        if (rule === 'growing') expect(apart).toBeGreaterThan(10n ** 14n);
        else expect(apart).toBeLessThan(10n ** 6n);
      }
    },
  );
});
