import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, zeroAddress } from 'viem';
import type { ContractCall } from '../../chain/multicall.ts';
import { allowlistFunctions } from '../../protocol/abi/allowlists.ts';
import { factoryFunctions } from '../../protocol/abi/factory.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { immutablesAbi, scaleCall } from '../../protocol/layouts/immutables.ts';
import { HEAD_SLOTS } from '../../protocol/layouts/storage.ts';
import type { BinRange, StoredPool } from '../../protocol/pool-state.ts';
import type { ChainFacts } from './facts.ts';

/** Upper estimates of gas: of a call, of a storage word with its calldata, of a getter. */
const GAS = { call: 10_000, perWord: 3_000, immutables: 60_000, getter: 20_000, allowlist: 10_000 };

/** What an allowlist restricts. */
export type RestrictedAction = 'deposit' | 'swap';

/** An allowlist that is an extension of a pool, and the accounts about which it is asked. */
interface ReadAllowlist {
  readonly address: Address;
  readonly action: RestrictedAction;
  readonly accounts: readonly Address[];
}

/** A pool that is read: its layout says how. */
interface ReadPool extends BinRange {
  readonly address: Address;
  readonly factory: Address;
  readonly layout: string;
  readonly allowlists: readonly ReadAllowlist[];
}

/** An upper estimate of the gas that the calls for a pool take together: it grows with bins and allowlists. */
export const poolGas = ({ lowestBin, highestBin, allowlists }: ReadPool): number =>
  GAS.call +
  (HEAD_SLOTS.length + 2 * (highestBin - lowestBin + 1)) * GAS.perWord +
  GAS.immutables +
  3 * GAS.getter +
  allowlists.reduce((sum, { accounts }) => sum + (1 + accounts.length) * GAS.allowlist, 0);

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
    ...pool.allowlists.flatMap((allowlist) => allowlistCalls(address, allowlist)),
  ];
}

/** Functions of an allowlist: whether a pool allows all accounts, and whether it allows one. */
const ALLOWLIST = {
  deposit: { all: 'allowAllDepositors', account: 'allowedDepositor' },
  swap: { all: 'allowAllSwappers', account: 'allowedSwapper' },
} as const;

function allowlistCalls(pool: Address, { address: target, action, accounts }: ReadAllowlist): ContractCall[] {
  const { all, account } = ALLOWLIST[action];
  return [
    encodeFunctionData({ abi: allowlistFunctions, functionName: all, args: [pool] }),
    ...accounts.map((each) =>
      encodeFunctionData({ abi: allowlistFunctions, functionName: account, args: [pool, each] }),
    ),
  ].map((data) => ({ target, data, gas: GAS.allowlist }));
}

/** The call that counts a factory's pools; {@link readPoolCount} takes its result. */
export const poolCountCall = (factory: Address): ContractCall => ({
  target: factory,
  data: encodeFunctionData({ abi: factoryFunctions, functionName: 'nextPoolIdx' }),
  gas: GAS.getter,
});

/** Reads what the chain holds of a pool. What was not answered is missing; without its storage all is. */
export function readChainFacts(pool: ReadPool, results: readonly CallResult[]): ChainFacts {
  const [storage, immutables, fees, admin, destination, ...allowlists] = results;
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
    ...factsOfAllowlists(pool.allowlists, allowlists),
  });
}

/** Nothing for a pool without allowlists; no fact of which a call gave no flag. */
function factsOfAllowlists(
  allowlists: readonly ReadAllowlist[],
  results: readonly CallResult[],
): { readonly [Name in 'allowAll' | 'allowedAccounts']?: string | undefined } {
  if (allowlists.length === 0) return {};
  const flags = results.map((result) =>
    decoded(result, (data) =>
      decodeFunctionResult({ abi: allowlistFunctions, functionName: 'allowAllSwappers', data }),
    ),
  );
  const ofAll: (boolean | undefined)[] = [];
  const ofAccounts: (boolean | undefined)[] = [];
  let next = 0;
  for (const { accounts } of allowlists) {
    ofAll.push(flags[next]);
    ofAccounts.push(...accounts.map((_, index) => flags[next + 1 + index]));
    next += 1 + accounts.length;
  }
  const joined = (values: readonly (boolean | undefined)[]) =>
    values.includes(undefined) ? undefined : values.map(Number).join();
  return { allowAll: joined(ofAll), allowedAccounts: joined(ofAccounts) };
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

/** What a result says; undefined when the call failed, or gave something else. */
const decoded = <T>(result: CallResult | undefined, decode: (data: Hex) => T): T | undefined =>
  result?.success ? known(() => decode(result.data)) : undefined;

function known<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

const present = (facts: { readonly [Name in keyof ChainFacts]: string | undefined }): ChainFacts =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
