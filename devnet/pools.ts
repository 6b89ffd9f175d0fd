import { type Address, encodeAbiParameters, encodeFunctionData, type Hex, parseEventLogs, zeroHash } from 'viem';
import { MAX_UINT256 } from '../protocol/fixed-point.ts';
import type { BinShape, ExtensionPhase } from '../protocol/pool-events.ts';
import type { Deployment } from './deploy.ts';
import { type DevChain, send } from './dev-chain.ts';
import { encodeBinData, encodeExtensionOrder } from './pool-words.ts';
import { factoryAbi } from './protocol-abi.ts';

/** An extension of a pool to create: where it runs and what it receives. */
export interface ExtensionSpec {
  readonly address: Address;
  readonly phases: readonly ExtensionPhase[];
  /** Absent: the extension stays uninitialised. */
  readonly initData?: Hex;
}

/** A pool to create. Everything optional has the value of an ordinary pool. */
export interface PoolSpec {
  readonly token0: Address;
  readonly token1: Address;
  readonly priceProvider: Address;
  readonly bins: readonly BinShape[];
  /** Raw units per 10^18 shares in an empty bin. */
  readonly initialAmount0PerShareE18: bigint;
  readonly initialAmount1PerShareE18: bigint;
  readonly extensions?: readonly ExtensionSpec[];
  /** Seconds; `NEVER` makes the provider immutable. Default: a day. */
  readonly priceProviderTimelock?: bigint;
  readonly creator?: Address;
  /** Default: the creator. */
  readonly admin?: Address;
  readonly adminFeeDestination?: Address;
  readonly adminSpreadFeeE6?: number;
  readonly adminNotionalFeeE8?: number;
  readonly minimalMintableLiquidity?: bigint;
  /** Lower edge of bin 0 from mid, millionths. */
  readonly curBinDistFromProvidedPriceE6?: number;
  readonly salt?: Hex;
}

/** A timelock that never ends. */
export const NEVER = MAX_UINT256;

const DAY_SECS = 86_400n;
const CREATION_GAS = 15_000_000n;

/** Creates a pool through the factory and returns its address, lowercased. */
export async function createPool(
  chain: DevChain,
  deployment: Pick<Deployment, 'poolFactory'>,
  spec: PoolSpec,
): Promise<Address> {
  const from = spec.creator ?? chain.roles.curator;
  const data = encodeFunctionData({
    abi: factoryAbi,
    functionName: 'createPool',
    args: [poolParameters(spec, from, chain.roles.feeDestination)],
  });
  return sendCreation(chain, deployment, { from, data });
}

/** Sends a call that creates a pool, and returns the pool's address, lowercased. */
export async function sendCreation(
  chain: DevChain,
  deployment: Pick<Deployment, 'poolFactory'>,
  call: { readonly from: Address; readonly data: Hex },
): Promise<Address> {
  const receipt = await send(chain, { ...call, to: deployment.poolFactory, gas: CREATION_GAS });
  const [created] = parseEventLogs({ abi: factoryAbi, eventName: 'PoolCreated', logs: receipt.logs });
  if (created === undefined) throw new Error('createPool emitted no PoolCreated');
  return created.args.poolAddress.toLowerCase() as Address;
}

/** What a factory's `createPool` takes. */
export function poolParameters(spec: PoolSpec, creator: Address, feeDestination: Address) {
  const { nonNegative, negative } = encodeBinData(spec.bins);
  const extensions = spec.extensions ?? [];
  const order = (phase: ExtensionPhase) =>
    encodeExtensionOrder(
      extensions.flatMap((extension, index) => (extension.phases.includes(phase) ? [index + 1] : [])),
    );
  return {
    token0: spec.token0,
    token1: spec.token1,
    priceProvider: spec.priceProvider,
    extensions: extensions.map(({ address }) => address),
    extensionOrders: {
      beforeAddLiquidity: order('beforeAddLiquidity'),
      afterAddLiquidity: order('afterAddLiquidity'),
      beforeRemoveLiquidity: order('beforeRemoveLiquidity'),
      afterRemoveLiquidity: order('afterRemoveLiquidity'),
      beforeSwap: order('beforeSwap'),
      afterSwap: order('afterSwap'),
    },
    extensionInitData: extensions.map(({ initData }) => initData ?? '0x'),
    priceProviderTimelock: spec.priceProviderTimelock ?? DAY_SECS,
    admin: spec.admin ?? creator,
    initialAmount0PerShareE18: spec.initialAmount0PerShareE18,
    initialAmount1PerShareE18: spec.initialAmount1PerShareE18,
    minimalMintableLiquidity: spec.minimalMintableLiquidity ?? 1_000n,
    adminSpreadFeeE6: spec.adminSpreadFeeE6 ?? 100_000,
    adminNotionalFeeE8: spec.adminNotionalFeeE8 ?? 0,
    adminFeeDestination: spec.adminFeeDestination ?? feeDestination,
    curBinDistFromProvidedPriceE6: spec.curBinDistFromProvidedPriceE6 ?? 0,
    nonNegativeBinDataArray: nonNegative,
    negativeBinDataArray: negative,
    salt: spec.salt ?? zeroHash,
  } as const;
}

/** Bins from `lowest` to `highest`, all of one width and without additional fees. */
export function evenBins(lowest: number, highest: number, lengthE6: number): BinShape[] {
  return Array.from({ length: highest - lowest + 1 }, (_, index) => ({
    bin: lowest + index,
    lengthE6,
    addFeeBuyE6: 0,
    addFeeSellE6: 0,
  }));
}

/** @param timelockSecs 2^32 - 1 means that the settings can never change */
export function stopLossExtension(
  deployment: Deployment,
  settings?: { readonly drawdownE6: number; readonly decayPerSecondE8: number; readonly timelockSecs: number },
): ExtensionSpec {
  const uint32 = { type: 'uint32' } as const;
  const base = { address: deployment.stopLoss, phases: ['afterSwap'] } as const;
  if (settings === undefined) return base;
  const { drawdownE6, decayPerSecondE8, timelockSecs } = settings;
  const initData = encodeAbiParameters([uint32, uint32, uint32], [drawdownE6, decayPerSecondE8, timelockSecs]);
  return { ...base, initData };
}

export function velocityExtension(
  deployment: Pick<Deployment, 'priceVelocityGuard'>,
  maxChangePerBlockE18: bigint,
): ExtensionSpec {
  const initData = encodeAbiParameters([{ type: 'uint64' }], [maxChangePerBlockE18]);
  return { address: deployment.priceVelocityGuard, phases: ['beforeSwap'], initData };
}

export function depositAllowlistExtension(
  deployment: Pick<Deployment, 'depositAllowlist'>,
  allowed: readonly Address[],
): ExtensionSpec {
  return { address: deployment.depositAllowlist, phases: ['beforeAddLiquidity'], initData: allowlistData(allowed) };
}

export function swapAllowlistExtension(
  deployment: Pick<Deployment, 'swapAllowlist'>,
  allowed: readonly Address[],
): ExtensionSpec {
  return { address: deployment.swapAllowlist, phases: ['beforeSwap'], initData: allowlistData(allowed) };
}

/** The custom extension: it runs before removals. */
export function removalLogExtension(deployment: Deployment): ExtensionSpec {
  const initData = encodeAbiParameters([{ type: 'bool' }], [false]);
  return { address: deployment.removalLog, phases: ['beforeRemoveLiquidity'], initData };
}

function allowlistData(allowed: readonly Address[]): Hex {
  return encodeAbiParameters([{ type: 'bool' }, { type: 'address[]' }], [false, allowed]);
}
