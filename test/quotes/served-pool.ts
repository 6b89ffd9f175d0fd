import type { Address } from 'viem';
import type { Deployment } from '../../devnet/deploy.ts';
import type { DevChain } from '../../devnet/dev-chain.ts';
import { flatPoolAbi } from '../../devnet/protocol-abi.ts';
import { decodeExtensionOrder } from '../../protocol/layouts/extension-orders.ts';
import { EXTENSION_PHASES } from '../../protocol/pool-events.ts';
import type { StopLossMark } from '../../protocol/stop-loss/stop-loss.ts';
import {
  type ExtensionKind,
  type PoolDirectory,
  type PoolExtension,
  PoolTable,
  type ServedPool,
} from '../../quoting/pools/pool-directory.ts';
import type { QuoteWorld } from './quote-world.ts';

/** What the directory would know of a pool, read from the chain itself instead of from the indexer. */
export async function servedPool(
  chain: DevChain,
  deployment: Pick<Deployment, 'stopLoss' | 'priceVelocityGuard' | 'depositAllowlist' | 'swapAllowlist'>,
  address: Address,
  stopLossMark: StopLossMark | null = 'mean',
  layout: 'flat' | 'packed' = 'flat',
): Promise<ServedPool> {
  const immutables = await chain.client.readContract({ address, abi: flatPoolAbi, functionName: 'getImmutables' });
  const extensions = [1, 2, 3, 4, 5, 6, 7].map(
    (position) => immutables[`extension${position as 1 | 2 | 3 | 4 | 5 | 6 | 7}`].toLowerCase() as Address,
  );
  const orders = {
    beforeAddLiquidity: immutables.beforeAddLiquidityOrder,
    afterAddLiquidity: immutables.afterAddLiquidityOrder,
    beforeRemoveLiquidity: immutables.beforeRemoveLiquidityOrder,
    afterRemoveLiquidity: immutables.afterRemoveLiquidityOrder,
    beforeSwap: immutables.beforeSwapOrder,
    afterSwap: immutables.afterSwapOrder,
  };
  const attached = extensions.flatMap((extension, index): PoolExtension[] => {
    if (BigInt(extension) === 0n) return [];
    const phases = EXTENSION_PHASES.filter((phase) => decodeExtensionOrder(orders[phase]).includes(index + 1));
    return [{ address: extension, phases, kind: kindOf(extension, deployment) }];
  });
  const provider = immutables.immutablePriceProvider.toLowerCase() as Address;
  return {
    chainId: chain.chainId,
    address,
    contractVersion: 'v1',
    layout,
    token0: { address: immutables.token0.toLowerCase() as Address, symbol: 'AAA', decimals: null },
    token1: { address: immutables.token1.toLowerCase() as Address, symbol: 'BBB', decimals: null },
    pair: 'AAA/BBB',
    immutables: {
      lowestBin: Number(immutables.lowestBin),
      highestBin: Number(immutables.highestBin),
      scale: { multiplier0: immutables.token0ScaleMultiplier, multiplier1: immutables.token1ScaleMultiplier },
    },
    immutableProvider: BigInt(provider) === 0n ? null : provider,
    extensions: attached,
    stopLossMark,
    router: null,
  };
}

function kindOf(address: Address, deployment: Parameters<typeof servedPool>[1]): ExtensionKind {
  const { stopLoss, priceVelocityGuard, depositAllowlist, swapAllowlist } = deployment;
  if (address === stopLoss) return 'stopLoss';
  if (address === priceVelocityGuard) return 'priceVelocityGuard';
  if (address === depositAllowlist) return 'depositAllowlist';
  return address === swapAllowlist ? 'swapAllowlist' : 'custom';
}

/** A directory of flat pools of a world, in this order. */
export async function directoryOf(
  { chain, deployment }: Pick<QuoteWorld, 'chain' | 'deployment'>,
  pools: readonly Address[],
): Promise<PoolDirectory> {
  return fixedDirectory(await Promise.all(pools.map((pool) => servedPool(chain, deployment, pool))));
}

/** A directory of pools that are known from the start. */
export function fixedDirectory(pools: readonly ServedPool[]): PoolDirectory {
  const table = new PoolTable(pools);
  return { table: async () => table };
}
