import { expect, test } from 'vitest';
import { tokenScale } from '../protocol/scaling.ts';
import { seedAddress } from '../test/harness/seed-pools.ts';
import { reportedDepth } from './depth-estimates.ts';
import type { PoolReport } from './pools/chain-catalog.ts';
import type { ServedPool } from './pools/pool-directory.ts';

/** WETH for USDC. */
const POOL: ServedPool = {
  chainId: 7,
  address: seedAddress(1),
  contractVersion: 'v1',
  layout: 'flat',
  token0: { address: seedAddress(0x70), symbol: 'WETH', decimals: 18 },
  token1: { address: seedAddress(0x71), symbol: 'USDC', decimals: 6 },
  pair: 'WETH/USDC',
  immutables: { lowestBin: 0, highestBin: 0, scale: tokenScale(18, 6) },
  immutableProvider: null,
  extensions: [],
  stopLossMark: 'mean',
  router: null,
};
const Q64 = 2 ** 64;
const REPORT: PoolReport = {
  isHealthy: true,
  balance0: 2e18,
  balance1: 6e6,
  sellX64: 3_000 * Q64,
  buyX64: 4_000 * Q64,
  tier: 'green',
};
const depth = (change: Partial<PoolReport>) => reportedDepth(POOL, { ...REPORT, ...change });
const NOTHING = { inputs: [], outputs: [] };

test('a healthy pool claims what it holds at its prices, in raw units', () => {
  expect(depth({})).toEqual({
    bids: { inputs: [expect.closeTo(2e15, 0)], outputs: [6e6] },
    asks: { inputs: [expect.closeTo(8e9, 0)], outputs: [2e18] },
    tierRank: 4,
  });
});

test('a side without balance or price claims nothing, and so does a pool that is not healthy or holds nothing', () => {
  expect(depth({ balance0: 0, balance1: 9e6, tier: null })).toEqual({
    bids: { inputs: [expect.closeTo(3e15, 0)], outputs: [9e6] },
    asks: NOTHING,
    tierRank: 1,
  });
  expect(depth({ sellX64: 0, buyX64: 0 })).toMatchObject({ bids: NOTHING, asks: NOTHING });
  for (const change of [{ isHealthy: false }, { balance0: 0, balance1: 0 }]) {
    expect(depth(change)).toMatchObject({ bids: NOTHING, asks: NOTHING });
  }
});
