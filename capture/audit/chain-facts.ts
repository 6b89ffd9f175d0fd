import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, zeroAddress } from 'viem';
import type { ContractCall } from '../../chain/multicall.ts';
import { factoryFunctions } from '../../protocol/abi/factory.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { immutablesAbi, scaleCall } from '../../protocol/layouts/immutables.ts';
import { HEAD_SLOTS } from '../../protocol/layouts/storage.ts';
import type { BinRange, StoredPool } from '../../protocol/pool-state.ts';
import { decoded, known } from './decoded.ts';
import { extensionCalls, extensionGas, factsOfExtensions, type ReadExtension } from './extension-facts.ts';
import type { ChainFacts } from './facts.ts';

/** Upper estimates of gas: of a call, of a storage word with its calldata, of a getter. */
const GAS = { call: 10_000, perWord: 3_000, immutables: 60_000, getter: 20_000 };

/** A pool that is read: its layout says how. */
interface ReadPool extends BinRange {
  readonly address: Address;
  readonly factory: Address;
  readonly layout: string;
  readonly readExtensions: readonly ReadExtension[];
}

/** An upper estimate of the gas that the calls for a pool take together: it grows with bins and extensions. */
export const poolGas = ({ lowestBin, highestBin, readExtensions }: ReadPool): number =>
  GAS.call +
  (HEAD_SLOTS.length + 2 * (highestBin - lowestBin + 1)) * GAS.perWord +
  GAS.immutables +
  3 * GAS.getter +
  readExtensions.reduce((sum, extension) => sum + extensionGas(extension), 0);

/** The calls whose results {@link readChainFacts} takes. */
export function poolCalls(pool: ReadPool): ContractCall[] {
  const { address, factory, layout } = pool;
  const { data, words } = layoutAdapter(layout).storage.call(pool);
  const getter = (functionName: 'poolFeeConfig' | 'poolAdmin' | 'poolAdminFeeDestination') => ({
    target: factory,
    data: encodeFunctionData({ abi: factoryFunctions, functionName, args: [address] }),
    gas: GAS.getter,
  });
  return [
    { target: address, data, gas: GAS.call + words * GAS.perWord },
    { target: address, data: scaleCall, gas: GAS.immutables },
    getter('poolFeeConfig'),
    getter('poolAdmin'),
    getter('poolAdminFeeDestination'),
    ...pool.readExtensions.flatMap((extension) => extensionCalls(address, extension)),
  ];
}

/** The call that counts a factory's pools; {@link readPoolCount} takes its result. */
export const poolCountCall = (factory: Address): ContractCall => ({
  target: factory,
  data: encodeFunctionData({ abi: factoryFunctions, functionName: 'nextPoolIdx' }),
  gas: GAS.getter,
});

/** Reads what the chain holds of a pool. What was not answered is missing; without its storage all is. */
export function readChainFacts(pool: ReadPool, results: readonly CallResult[]): ChainFacts {
  const [storage, immutables, fees, admin, destination, ...ofExtensions] = results;
  const stored = storage && known(() => layoutAdapter(pool.layout).storage.decode(pool, storage));
  if (!stored) return {};
  const readGetter = (result: CallResult | undefined, functionName: 'poolAdmin' | 'poolAdminFeeDestination') =>
    decoded(result, (data) => decodeFunctionResult({ abi: factoryFunctions, functionName, data }).toLowerCase());
  const readFees = (data: Hex) =>
    decodeFunctionResult({ abi: factoryFunctions, functionName: 'poolFeeConfig', data }).join(' ');
  return present({
    ...factsOfStorage(stored),
    ...decoded(immutables, (data) => factsOfImmutables(data, stored)),
    factoryFees: decoded(fees, readFees),
    admin: readGetter(admin, 'poolAdmin'),
    adminFeeDestination: readGetter(destination, 'poolAdminFeeDestination'),
    ...factsOfExtensions(pool.readExtensions, ofExtensions),
  });
}

/** The number of pools of a factory; nothing where it does not give it. */
export const readPoolCount = (result: CallResult | undefined): ChainFacts =>
  present({
    pools: decoded(result, (data) =>
      String(decodeFunctionResult({ abi: factoryFunctions, functionName: 'nextPoolIdx', data }) - 1n),
    ),
  });

function factsOfStorage({ cursor, binTotals, notionalFees, bins, ...head }: StoredPool): ChainFacts {
  return {
    pauseLevel: String(head.pauseLevel),
    cursor: [cursor.bin, cursor.position, cursor.lowerDistE6].join(' '),
    spreadFee: String(head.spreadFeeE6),
    notionalFee: String(head.notionalFeeE8),
    totals: [binTotals.token0Scaled, binTotals.token1Scaled].join(' '),
    accruedNotionalFees: [notionalFees.token0Scaled, notionalFees.token1Scaled].join(' '),
    binBalances0: bins.map(({ token0Scaled }) => token0Scaled).join(),
    binBalances1: bins.map(({ token1Scaled }) => token1Scaled).join(),
    binShapes: bins
      .map(({ lengthE6, addFeeBuyE6, addFeeSellE6 }) => [lengthE6, addFeeBuyE6, addFeeSellE6].join(' '))
      .join(),
    shares: bins.map(({ shares }) => shares).join(),
  };
}

/** A pool has its provider in storage, or among its immutables where it can never change. */
function factsOfImmutables(data: Hex, { mutablePriceProvider }: StoredPool): ChainFacts {
  const immutables = decodeFunctionResult({ abi: immutablesAbi, functionName: 'getImmutables', data });
  const { extension1, extension2, extension3, extension4, extension5, extension6, extension7 } = immutables;
  const extensions = [extension1, extension2, extension3, extension4, extension5, extension6, extension7];
  return {
    provider: mutablePriceProvider ?? immutables.immutablePriceProvider.toLowerCase(),
    extensions: extensions
      .filter((address) => address !== zeroAddress)
      .join()
      .toLowerCase(),
  };
}

const present = (facts: { readonly [Name in keyof ChainFacts]: string | undefined }): ChainFacts =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
