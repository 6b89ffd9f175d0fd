import { type Address, erc20Abi, type Hex, type PublicClient } from 'viem';
import { factoryAbi } from '../../devnet/protocol-abi.ts';
import { flatPoolFunctions } from '../../protocol/layouts/flat/pool-abi.ts';
import { binSharesSlot, binSlot, decodeBin, HEAD_SLOTS } from '../../protocol/layouts/storage.ts';
import { decodeHead } from '../protocol/flat-storage.ts';
import type { IndexedPool } from './indexed-pools.ts';

/** Every pool of a factory as the chain's storage and getters have it, in the shape of the index. */
export async function readChainPools(client: PublicClient, factory: Address): Promise<Map<Address, IndexedPool>> {
  const count = await client.readContract({ address: factory, abi: factoryAbi, functionName: 'nextPoolIdx' });
  const idxs = Array.from({ length: Number(count) - 1 }, (_, index) => BigInt(index + 1));
  const pools = idxs.map(async (idx) => {
    const at = { address: factory, abi: factoryAbi, functionName: 'idxToPool', args: [idx] } as const;
    const address = (await client.readContract(at)).toLowerCase() as Address;
    return [address, await readChainPool(client, factory, address)] as const;
  });
  return new Map(await Promise.all(pools));
}

async function readChainPool(client: PublicClient, factory: Address, address: Address): Promise<IndexedPool> {
  const immutables = await client.readContract({ address, abi: flatPoolFunctions, functionName: 'getImmutables' });
  const [lowestBin, highestBin] = [Number(immutables.lowestBin), Number(immutables.highestBin)];
  const binIdxs = Array.from({ length: highestBin - lowestBin + 1 }, (_, index) => lowestBin + index);
  const [headWords, binWords, shareWords] = await Promise.all([
    extsload(client, address, HEAD_SLOTS),
    extsload(client, address, binIdxs.map(binSlot)),
    extsload(client, address, binIdxs.map(binSharesSlot)),
  ]);
  const head = decodeHead(headWords);
  const balanceOf = (token: Address) =>
    client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [address] });
  const { token0ScaleMultiplier, token1ScaleMultiplier } = immutables;
  return {
    pauseLevel: head.pauseLevel,
    curBinIdx: head.cursor.bin,
    curPosInBin: head.cursor.position,
    curBinDistFromProvidedPriceE6: head.cursor.lowerDistE6,
    spreadFeeE6: head.spreadFeeE6,
    notionalFeeE8: head.notionalFeeE8,
    total0Scaled: head.binTotals.token0Scaled,
    total1Scaled: head.binTotals.token1Scaled,
    notionalFee0Scaled: head.notionalFees.token0Scaled,
    notionalFee1Scaled: head.notionalFees.token1Scaled,
    balance0Raw: await balanceOf(immutables.token0),
    balance1Raw: await balanceOf(immutables.token1),
    priceProvider: (head.mutablePriceProvider ?? immutables.immutablePriceProvider).toLowerCase() as Address,
    token0ScaleMultiplier,
    token1ScaleMultiplier,
    lowestBin,
    highestBin,
    ...(await readFactorySettings(client, factory, address)),
    bins: binIdxs.map((binIdx, index) => ({
      binIdx,
      ...decodeBin(wordAt(binWords, index)),
      totalShares: BigInt(wordAt(shareWords, index)),
    })),
  };
}

async function readFactorySettings(client: PublicClient, factory: Address, pool: Address) {
  const at = { address: factory, abi: factoryAbi, args: [pool] } as const;
  const addressOrNull = (address: Address) => (BigInt(address) === 0n ? null : (address.toLowerCase() as Address));
  const [fees, admin, pendingAdmin, destination, timelock, pendingProvider, executeAfter] = await Promise.all([
    client.readContract({ ...at, functionName: 'poolFeeConfig' }),
    client.readContract({ ...at, functionName: 'poolAdmin' }),
    client.readContract({ ...at, functionName: 'pendingPoolAdmin' }),
    client.readContract({ ...at, functionName: 'poolAdminFeeDestination' }),
    client.readContract({ ...at, functionName: 'priceProviderTimelock' }),
    client.readContract({ ...at, functionName: 'pendingPriceProvider' }),
    client.readContract({ ...at, functionName: 'pendingPriceProviderExecuteAfter' }),
  ]);
  const [protocolSpreadFeeE6, adminSpreadFeeE6, protocolNotionalFeeE8, adminNotionalFeeE8] = fees;
  return {
    protocolSpreadFeeE6,
    adminSpreadFeeE6,
    protocolNotionalFeeE8,
    adminNotionalFeeE8,
    admin: addressOrNull(admin),
    pendingAdmin: addressOrNull(pendingAdmin),
    adminFeeDestination: addressOrNull(destination),
    priceProviderTimelockSecs: timelock,
    pendingPriceProvider: addressOrNull(pendingProvider),
    pendingPriceProviderExecuteAfter: addressOrNull(pendingProvider) === null ? null : executeAfter,
  };
}

async function extsload(client: PublicClient, address: Address, slots: readonly Hex[]): Promise<readonly Hex[]> {
  return client.readContract({ address, abi: flatPoolFunctions, functionName: 'extsload', args: [slots] });
}

function wordAt(words: readonly Hex[], index: number): Hex {
  const word = words[index];
  if (word === undefined) throw new RangeError(`no storage word ${index} of ${words.length}`);
  return word;
}
