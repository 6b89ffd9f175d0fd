import { describe, expect, test } from 'vitest';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import { NO_TOTALS } from '../../test/metadata/no-totals.ts';
import type { PoolFacts } from './pool-facts.ts';
import { BARE_FACTS, CHAIN, ODD, registry, shownPrice, WETH } from './record.fixture.ts';
import { listPool } from './record.ts';

describe('a pool whose events do not report its state', () => {
  const storage = { curBinIdx: 4, total0Scaled: 10n ** 18n, total1Scaled: 3n * 10n ** 18n + 5n };
  const KNOWN = { storage: 'packedHead' };
  const packedRegistry = (packed?: DeploymentConfig['packed']) => ({
    ...registry,
    deploymentOf: (chainId: number, factory: string) => {
      const deployment = registry.deploymentOf(chainId, factory);
      return deployment && { ...deployment, layout: 'packed', packed };
    },
  });
  const tokens = [
    {
      chainId: CHAIN,
      address: WETH,
      symbol: 'WETH',
      name: 'Wrapped Ether',
      decimals: 18,
      lastPrice: shownPrice(2_000),
    },
    { chainId: CHAIN, address: ODD, symbol: 'USD', name: 'Dollar', decimals: 6, lastPrice: shownPrice(1) },
  ] as const;
  const listPacked = (facts: Partial<PoolFacts>) =>
    listPool({ ...BARE_FACTS, tokens, ...facts }, null, packedRegistry());
  const packed = (facts: Partial<PoolFacts>) => {
    const pool = listPacked(facts)?.pool;
    if (pool === undefined) throw new Error('not listed');
    return { ...pool, record: JSON.parse(pool.record), analytics: JSON.parse(pool.analytics) };
  };

  test('is not listed before its storage was read, nor while it is undecided what that means, nor when nothing explains it', () => {
    expect(listPacked({})).toBeNull();
    expect(listPacked({ storage, interpretations: {} })).toBeNull();
    expect(listPacked({ storage, interpretations: { storage: null } })).toBeNull();
    expect(listPacked({ storage, interpretations: { storage: 'none' } })).toBeNull();
  });

  test('takes cursor and liquidity from storage, in raw units rounded down, and has no fees that nobody knows', () => {
    const { record, analytics, tvlFiat } = packed({ storage, interpretations: KNOWN });
    expect([record.curBinIdx, tvlFiat]).toEqual([4, 2_003]);
    expect(analytics).toMatchObject({
      feesFiat: null,
      tvlFiat: 2_003,
      aprBps: null,
      token0: { liquidityRaw: '1000000000000000000' },
      token1: { liquidityRaw: '3000000', liquidityFiat: 3 },
    });
  });

  test('has the fees that its totals make by the interpretations of its factory, those of the configuration first', () => {
    const one = 10n ** 18n;
    const totals = {
      ...NO_TOTALS,
      saleBinFeesHigh: one / 1_000n,
      saleBinFeesLow: one / 2_000n,
      purchaseBinFeesHigh: one,
      salePlatformFeesHigh: one / 2_000n,
      salePlatformFeesLow: 7n * one,
    };
    const figures = (interpretations: PoolFacts['interpretations'], override?: DeploymentConfig['packed']) => {
      const facts = {
        ...BARE_FACTS,
        tokens,
        storage,
        day: totals,
        week: totals,
        interpretations: { ...KNOWN, ...interpretations },
      };
      const pool = listPool(facts, null, packedRegistry(override))?.pool;
      const { feesFiat } = JSON.parse(pool?.analytics ?? '');
      return [feesFiat, pool?.aprBps, pool?.aprBps7d];
    };
    // Of token0 a thousandth at 2,000 dollars stays with LPs, and a dollar of token1.
    const apr = Math.floor((3 * 365 * 10_000) / 2_003);
    expect(figures({ fees: 'kind' })).toEqual([null, apr, Math.floor((3 * 365 * 10_000) / (7 * 2_003))]);
    // Of the platform half a thousandth of token0, and seven of the token that the reading names.
    expect(figures({ fees: 'kind', platformFees: 'token' })).toEqual([3 + 1 + 7, apr, expect.any(Number)]);
    expect(figures({ fees: 'kind', platformFees: 'kind' })[0]).toBeNull();
    expect(figures({ fees: 'kind', platformFees: 'kind', notional: 'input' })[0]).toBe(3 + 1 + 14_000);
    expect(figures({ fees: 'token', platformFees: 'kind', notional: 'input' }, { fees: 'kind' })[0]).toBe(14_004);
    expect(figures({ fees: 'unheard of' })).toEqual([null, null, null]);
  });
});
