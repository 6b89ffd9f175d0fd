import type { Address } from 'viem';
import type { swap } from '../../indexer/ponder.schema.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { seedAddress } from '../harness/seed-pools.ts';
import { CHAIN_A } from './listing-fixture.ts';

/** A pool of WETH (18 decimals) and USDC (6) as the API's directory knows it. */
export const tradedPool = (address: Address): ServedPool => ({
  chainId: CHAIN_A,
  address,
  contractVersion: 'v1',
  layout: 'flat',
  pair: 'WETH/USDC',
  token0: { address: seedAddress(0x70), symbol: 'WETH', decimals: 18 },
  token1: { address: seedAddress(0x71), symbol: 'USDC', decimals: 6 },
  immutables: { lowestBin: -5, highestBin: 5, scale: { multiplier0: 1n, multiplier1: 10n ** 12n } },
  immutableProvider: null,
  extensions: [],
  stopLossMark: 'mean',
  router: null,
});

type SwapRow = typeof swap.$inferInsert;
type Traded = 'pool' | 'blockNumber' | 'blockTimestamp' | 'logIndex' | 'transactionHash' | 'amount0Raw' | 'amount1Raw';

/** A swap on chain A without fees. */
export const swapRow = (traded: Pick<SwapRow, Traded | 'zeroForOne'>): SwapRow => ({
  chainId: CHAIN_A,
  sender: seedAddress(5),
  recipient: seedAddress(6),
  transactionIndex: 0,
  transactionFrom: seedAddress(7),
  transactionTo: seedAddress(5),
  exactInput: true,
  lpFeeScaled: 0n,
  protocolFeeScaled: 0n,
  notionalFeeScaled: 0n,
  curBinIdx: 0,
  curPosInBin: 0n,
  parts: '{}',
  ...traded,
});
