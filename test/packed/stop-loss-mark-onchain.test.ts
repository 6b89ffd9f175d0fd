import { describe, expect, test } from 'vitest';
import { calibrationChain } from '../../capture/calibration/calibrate-factory.ts';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { minedTogether } from '../../devnet/dev-chain.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { calibrateMark } from '../../protocol/guards/calibrate-mark.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { eventLayout } from '../../protocol/layouts/event-layouts.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { startedWorld } from '../harness/open-world.ts';
import { type GuardedPool, openGuardedMarket } from '../quotes/guarded-market.ts';

const SPEC = {
  decimals0: 18,
  decimals1: 6,
  price: 2_000,
  below: 3,
  above: 3,
  lengthE6: 1_000,
  notionalFeeE8: 0,
  drawdownE6: 100_000,
  valuePerShare: 10n ** 18n,
};
const ONE = 10n ** 18n;

describe.each([
  ['flat', null, 'mean'],
  ['packed', packedVariant('sumOnPrice'), 'bidAsk'],
] as const)('the mark of a %s stop loss', (layout, variant, mark) => {
  const market = startedWorld(() => openGuardedMarket(variant));

  test('is what the watermarks that swaps stored say, once there are enough of them', async () => {
    const pool = await market.make(SPEC);
    expect((await search(pool)).decided).toBeNull();
    for (let round = 0; round < 4; round++) {
      await pool.movePrice(2_000 * (1 + round / 200));
      await pool.trade({ zeroForOne: false, amountSpecified: -ONE / 10n });
      await pool.trade({ zeroForOne: true, amountSpecified: ONE / 20n });
    }
    const found = await search(pool);
    expect(found.decided).toBe(mark);
    expect(found.observations).toBeGreaterThanOrEqual(5);
    const others = found.interpretations.filter(({ name }) => name !== mark);
    expect(others.every(({ contradicted }) => contradicted >= 2)).toBe(true);
  });

  test('is not said by swaps after which the feed moved within the block', async () => {
    const pool = await market.make(SPEC);
    const { client, roles } = market.chain;
    const [trader, owner] = [roles.trader, roles.owner].map((role) => role.toLowerCase());
    for (let round = 0; round < 6; round++) {
      await pool.movePrice(2_000 * (1 + round / 100));
      const sent = await minedTogether(market.chain, async () => {
        const traded = pool.trade({ zeroForOne: false, amountSpecified: -ONE / 10n });
        await expect.poll(async () => (await client.getTxpoolStatus()).pending).toBe(1);
        const moved = pool.movePrice(2_000 * (1.005 + round / 100));
        await expect.poll(async () => (await client.getTxpoolStatus()).pending).toBe(2);
        return [traded, moved] as const;
      });
      await Promise.all(sent);
      const { transactions } = await client.getBlock({ includeTransactions: true });
      expect(transactions.map(({ from }) => from)).toEqual([trader, owner]);
    }
    const found = await search(pool);
    expect({ decided: found.decided, observations: found.observations }).toEqual({ decided: null, observations: 0 });
  });

  async function search({ address, stopLoss }: GuardedPool) {
    const { chain } = market;
    const rpc = openChainRpc({ chainId: chain.chainId, rpcUrls: [chain.rpcUrl] }, 10_000);
    const immutables = { lowestBin: -SPEC.below, highestBin: SPEC.above, scale: tokenScale(18, 6) };
    // The provider is in the pool's storage: what stands in for an immutable one is not asked.
    const pool = { address, ...immutables, priceProvider: address };
    const target = calibrationChain({ rpc, chainId: chain.chainId });
    return calibrateMark(target, layoutAdapter(layout), eventLayout(layout), { stopLoss, pools: [pool], swaps: 20 });
  }
});
