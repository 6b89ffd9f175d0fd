import { type Address, encodeFunctionData, type Hex, parseEventLogs, stringToHex, zeroHash } from 'viem';
import {
  anchoredProviderFactoryEvents,
  regularL2ProviderFactoryEvents,
  regularProviderFactoryEvents,
} from '../protocol/abi/providers.ts';
import { anchoredFactoryAbi, oracleAbi, regularFactoryAbi, regularL2FactoryAbi } from './abi.ts';
import { type Deployment, deployContract } from './deploy.ts';
import { type DevChain, send } from './dev-chain.ts';

/** The tokens a provider prices: token1 per token0. */
export interface PricedPair {
  readonly token0: Address;
  readonly token1: Address;
}

export interface AnchoredProviderSpec extends PricedPair {
  readonly baseFeedId: Hex;
  /** Absent: the base feed is the price itself. */
  readonly quoteFeedId?: Hex;
  /** Fraction E18. Default: a basis point. */
  readonly minMargin?: bigint;
  /** Seconds. Default: 15. */
  readonly maxRefStaleness?: bigint;
  readonly maxSpreadBps?: number;
  readonly mutableParams?: boolean;
  /** Fraction E18, signed. */
  readonly marginStep?: bigint;
  readonly creator?: Address;
}

export interface RegularProviderSpec extends PricedPair {
  readonly feedId: Hex;
  /** Fraction E18, signed: below minus the feed's spread, bid and ask cross. Default: two basis points. */
  readonly marginStep?: bigint;
  /** Seconds. Default: a minute. */
  readonly maxTimeDelta?: bigint;
  /** Seconds; given, the provider comes from the factory for L2 chains. */
  readonly futureTolerance?: bigint;
  readonly creator?: Address;
}

const BASIS_POINT_E18 = 10n ** 14n;

/** Id of a feed by its name, as `ETH/USD`. */
export function feedId(name: string): Hex {
  return stringToHex(name, { size: 32 });
}

export async function deployAnchoredProvider(
  chain: DevChain,
  deployment: Deployment,
  spec: AnchoredProviderSpec,
): Promise<Address> {
  const parameters = {
    base: spec.token0,
    quote: spec.token1,
    baseFeedId: spec.baseFeedId,
    quoteFeedId: spec.quoteFeedId ?? zeroHash,
    classId: stringToHex('crypto', { size: 32 }),
    minMargin: spec.minMargin ?? BASIS_POINT_E18,
    maxRefStaleness: spec.maxRefStaleness ?? 15n,
    maxSpreadBps: spec.maxSpreadBps ?? 100,
    mutableParams: spec.mutableParams ?? false,
    marginStep: spec.marginStep ?? 0n,
    oracle: deployment.oracle,
  };
  const data = encodeFunctionData({ abi: anchoredFactoryAbi, functionName: 'deploy', args: [parameters] });
  const from = spec.creator ?? chain.roles.curator;
  const receipt = await send(chain, { from, to: deployment.anchoredProviderFactory, data });
  return deployedProvider(parseEventLogs({ abi: anchoredProviderFactoryEvents, logs: receipt.logs }));
}

export async function deployRegularProvider(
  chain: DevChain,
  deployment: Deployment,
  spec: RegularProviderSpec,
): Promise<Address> {
  const parameters = {
    base: spec.token0,
    quote: spec.token1,
    feedId: spec.feedId,
    marginStep: spec.marginStep ?? 2n * BASIS_POINT_E18,
    maxTimeDelta: spec.maxTimeDelta ?? 60n,
    oracle: deployment.oracle,
  };
  const from = spec.creator ?? chain.roles.curator;
  if (spec.futureTolerance === undefined) {
    const data = encodeFunctionData({ abi: regularFactoryAbi, functionName: 'deploy', args: [parameters] });
    const { logs } = await send(chain, { from, to: deployment.regularProviderFactory, data });
    return deployedProvider(parseEventLogs({ abi: regularProviderFactoryEvents, logs }));
  }
  const args = [parameters, spec.futureTolerance] as const;
  const data = encodeFunctionData({ abi: regularL2FactoryAbi, functionName: 'deploy', args });
  const { logs } = await send(chain, { from, to: deployment.regularL2ProviderFactory, data });
  return deployedProvider(parseEventLogs({ abi: regularL2ProviderFactoryEvents, logs }));
}

/** A provider of no factory that quotes what its owner sets: any bid and ask at all. */
export async function deployManualProvider(
  chain: DevChain,
  pair: PricedPair,
  quote: { readonly bidX64: bigint; readonly askX64: bigint },
): Promise<Address> {
  return deployContract(chain, 'ManualProvider', [pair.token0, pair.token1, quote.bidX64, quote.askX64]);
}

function deployedProvider(events: readonly { readonly args: { readonly provider?: Address } }[]): Address {
  const provider = events.find(({ args }) => args.provider !== undefined)?.args.provider;
  if (provider === undefined) throw new Error('the provider factory emitted no ProviderDeployed');
  return provider.toLowerCase() as Address;
}

/** Posts a feed's price (USD per whole unit, Q64.64); it stays fresh until the feed is stopped or taken down. */
export async function setFeedPrice(
  chain: DevChain,
  deployment: Deployment,
  feed: { readonly feedId: Hex; readonly priceX64: bigint; readonly spreadE18?: bigint },
): Promise<void> {
  const args = [feed.feedId, feed.priceX64, feed.spreadE18 ?? BASIS_POINT_E18] as const;
  const data = encodeFunctionData({ abi: oracleAbi, functionName: 'post', args });
  await send(chain, { from: chain.roles.owner, to: deployment.oracle, data });
}

/** `stop`: the last price grows stale. `takeDown`: there is no valid price, at once. Setting a price ends both. */
export async function silenceFeed(
  chain: DevChain,
  deployment: Deployment,
  id: Hex,
  how: 'stop' | 'takeDown',
): Promise<void> {
  const data = encodeFunctionData({ abi: oracleAbi, functionName: how, args: [id] });
  await send(chain, { from: chain.roles.owner, to: deployment.oracle, data });
}
