import { type Address, type DecodeEventLogReturnType, parseAbi } from 'viem';
import type { factoryEvents } from '../abi/factory.ts';
import { absBigint } from '../fixed-point.ts';
import type { LiquidityChanged, PoolCreation, PoolEvent, PoolEventOf } from '../pool-events.ts';
import { decodeBinData } from './bin-data.ts';
import { attachExtensions } from './extension-orders.ts';

/** Events that pools of every layout emit alike. */
export const commonPoolEvents = parseAbi([
  'struct BinBalanceDelta { int256 delta0Scaled; int256 delta1Scaled; }',
  'event LiquidityAdded(address indexed provider, uint80 indexed salt, int256[] binIdxs, BinBalanceDelta[] binBalanceDeltas, uint256[] shares)',
  'event LiquidityRemoved(address indexed provider, uint80 indexed salt, int256[] binIdxs, BinBalanceDelta[] binBalanceDeltas, uint256[] shares)',
  'event SpreadFeeUpdated(uint24 spreadFeeE6)',
  'event NotionalFeeUpdated(uint24 notionalFeeE8)',
  'event PauseLevelUpdated(uint8 previousLevel, uint8 newLevel)',
  'event PriceProviderUpdated(address indexed newPriceProvider)',
  'event ProtocolFeesCollected(uint256 amount0ToProtocol, uint256 amount1ToProtocol, uint256 amount0ToAdmin, uint256 amount1ToAdmin)',
]);

type CommonPoolEvent = DecodeEventLogReturnType<typeof commonPoolEvents>;
type CommonArgs<Name extends CommonPoolEvent['eventName']> = Extract<CommonPoolEvent, { eventName: Name }>['args'];

/** Normalises an event whose arguments are the fields of the pool event of this kind. */
export const ofKind =
  <Kind extends PoolEvent['kind']>(kind: Kind) =>
  (args: Omit<PoolEventOf<Kind>, 'kind'>) =>
    ({ kind, ...args }) as PoolEventOf<Kind>;

/** Normalises the arguments of one decoded pool event that every layout has. */
export const commonEvents = {
  LiquidityAdded: (args) => liquidityChanged('added', args),
  LiquidityRemoved: (args) => liquidityChanged('removed', args),
  SpreadFeeUpdated: ofKind('spreadFeeUpdated'),
  NotionalFeeUpdated: ofKind('notionalFeeUpdated'),
  PauseLevelUpdated: ofKind('pauseLevelUpdated'),
  PriceProviderUpdated: ({ newPriceProvider }) => ({
    kind: 'priceProviderUpdated',
    priceProvider: lowercase(newPriceProvider),
  }),
  ProtocolFeesCollected: ofKind('feesCollected'),
} as const satisfies { readonly [Name in CommonPoolEvent['eventName']]: (args: CommonArgs<Name>) => PoolEvent };

/** Arguments of a factory's `PoolCreated`. */
type PoolCreatedArgs = DecodeEventLogReturnType<typeof factoryEvents, 'PoolCreated'>['args'];

/** Normalises a factory's `PoolCreated`, which has the same fields in every layout. */
export function normalisePoolCreated(args: PoolCreatedArgs): PoolCreation {
  return {
    pool: lowercase(args.poolAddress),
    token0: lowercase(args.token0),
    token1: lowercase(args.token1),
    poolIdx: args.poolIdx,
    factory: lowercase(args.factory),
    admin: lowercase(args.admin),
    priceProvider: lowercase(args.priceProvider),
    extensions: attachExtensions(args.extensions.map(lowercase), args.extensionOrders),
    extensionOrders: args.extensionOrders,
    priceProviderTimelock: args.priceProviderTimelock,
    initialAmount0PerShareE18: args.initialAmount0PerShareE18,
    initialAmount1PerShareE18: args.initialAmount1PerShareE18,
    minimalMintableLiquidity: args.minimalMintableLiquidity,
    protocolSpreadFeeE6: args.spreadProtocolFeeE6,
    protocolNotionalFeeE8: args.protocolNotionalFeeE8,
    adminSpreadFeeE6: args.adminSpreadFeeE6,
    adminNotionalFeeE8: args.adminNotionalFeeE8,
    adminFeeDestination: lowercase(args.adminFeeDestination),
    curBinDistE6: args.curBinDistFromProvidedPriceE6,
    bins: decodeBinData(args.nonNegativeBinDataArray, args.negativeBinDataArray),
  };
}

/** Normalises a liquidity event. The direction gives the sign, since releases may emit removals with either sign. */
function liquidityChanged(
  direction: LiquidityChanged['direction'],
  args: CommonArgs<'LiquidityAdded'>,
): LiquidityChanged {
  const signed = (amount: bigint) => {
    const magnitude = absBigint(amount);
    return direction === 'added' ? magnitude : -magnitude;
  };
  const changes = args.binIdxs.map((bin, index) => {
    const delta = args.binBalanceDeltas[index];
    const shares = args.shares[index];
    if (delta === undefined || shares === undefined)
      throw new RangeError('liquidity event with lists of unlike length');
    return {
      bin: Number(bin),
      delta0Scaled: signed(delta.delta0Scaled),
      delta1Scaled: signed(delta.delta1Scaled),
      sharesDelta: signed(shares),
    };
  });
  return { kind: 'liquidityChanged', direction, provider: lowercase(args.provider), salt: args.salt, changes };
}

/** Addresses of events are in checksum case. */
export function lowercase(address: Address): Address {
  return address.toLowerCase() as Address;
}
