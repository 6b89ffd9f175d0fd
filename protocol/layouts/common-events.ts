import { type Address, type DecodeEventLogReturnType, parseAbi } from 'viem';
import type { PoolCreatedArgs } from '../layout.ts';
import type { FeesCollected, LiquidityChanged, PoolCreation, PoolEventOf } from '../pool-events.ts';
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

/** Normalises the arguments of one decoded pool event that every layout has. */
export const commonEvents = {
  LiquidityAdded: (args: CommonArgs<'LiquidityAdded'>) => liquidityChanged('added', args),
  LiquidityRemoved: (args: CommonArgs<'LiquidityRemoved'>) => liquidityChanged('removed', args),
  SpreadFeeUpdated: (args: CommonArgs<'SpreadFeeUpdated'>): PoolEventOf<'spreadFeeUpdated'> => ({
    kind: 'spreadFeeUpdated',
    ...args,
  }),
  NotionalFeeUpdated: (args: CommonArgs<'NotionalFeeUpdated'>): PoolEventOf<'notionalFeeUpdated'> => ({
    kind: 'notionalFeeUpdated',
    ...args,
  }),
  PauseLevelUpdated: (args: CommonArgs<'PauseLevelUpdated'>): PoolEventOf<'pauseLevelUpdated'> => ({
    kind: 'pauseLevelUpdated',
    ...args,
  }),
  PriceProviderUpdated: ({
    newPriceProvider,
  }: CommonArgs<'PriceProviderUpdated'>): PoolEventOf<'priceProviderUpdated'> => ({
    kind: 'priceProviderUpdated',
    priceProvider: lowercase(newPriceProvider),
  }),
  ProtocolFeesCollected: (args: CommonArgs<'ProtocolFeesCollected'>): FeesCollected => ({
    kind: 'feesCollected',
    ...args,
  }),
};

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
    const magnitude = amount < 0n ? -amount : amount;
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
