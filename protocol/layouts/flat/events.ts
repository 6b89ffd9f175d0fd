import type { Address, DecodeEventLogReturnType } from 'viem';
import type { PoolCreatedArgs } from '../../layout.ts';
import type {
  BinFeesUpdated,
  BinSwapped,
  FeesCollected,
  LiquidityChanged,
  NotionalFeeUpdated,
  PauseLevelUpdated,
  PoolCreation,
  PriceProviderUpdated,
  SpreadFeeUpdated,
  Swapped,
} from '../../pool-events.ts';
import { decodeBinData } from './bin-data.ts';
import { attachExtensions } from './extension-orders.ts';
import type { flatPoolEvents } from './pool-abi.ts';

/** A pool event as viem (and so Ponder) decodes it with `flatPoolEvents`. */
type FlatPoolEvent = DecodeEventLogReturnType<typeof flatPoolEvents>;

type FlatArgs<Name extends FlatPoolEvent['eventName']> = Extract<FlatPoolEvent, { eventName: Name }>['args'];

/** Normalises the arguments of one decoded pool event: `flatEvents.Swap(event.args)`. */
export const flatEvents = {
  LiquidityAdded: (args: FlatArgs<'LiquidityAdded'>) => liquidityChanged('added', args),
  LiquidityRemoved: (args: FlatArgs<'LiquidityRemoved'>) => liquidityChanged('removed', args),
  BinSwapped: ({ binIdx, delta, lpFeeAmount }: FlatArgs<'BinSwapped'>): BinSwapped => ({
    kind: 'binSwapped',
    bin: Number(binIdx),
    delta0Scaled: delta.delta0Scaled,
    delta1Scaled: delta.delta1Scaled,
    lpFeeScaled: lpFeeAmount,
  }),
  Swap: (args: FlatArgs<'Swap'>): Swapped => ({
    kind: 'swapped',
    sender: lowercase(args.sender),
    recipient: lowercase(args.recipient),
    exactInput: args.exactInput,
    amount0Delta: args.amount0Delta,
    amount1Delta: args.amount1Delta,
    curBin: args.newTick,
    posInBin: args.newPositionInBin,
    protocolFeeScaled: args.protocolFeeAmount,
  }),
  SpreadFeeUpdated: ({ spreadFeeE6 }: FlatArgs<'SpreadFeeUpdated'>): SpreadFeeUpdated => ({
    kind: 'spreadFeeUpdated',
    spreadFeeE6,
  }),
  NotionalFeeUpdated: ({ notionalFeeE8 }: FlatArgs<'NotionalFeeUpdated'>): NotionalFeeUpdated => ({
    kind: 'notionalFeeUpdated',
    notionalFeeE8,
  }),
  PauseLevelUpdated: ({ previousLevel, newLevel }: FlatArgs<'PauseLevelUpdated'>): PauseLevelUpdated => ({
    kind: 'pauseLevelUpdated',
    previousLevel,
    newLevel,
  }),
  PriceProviderUpdated: ({ newPriceProvider }: FlatArgs<'PriceProviderUpdated'>): PriceProviderUpdated => ({
    kind: 'priceProviderUpdated',
    priceProvider: lowercase(newPriceProvider),
  }),
  BinAdditionalFeesUpdated: (args: FlatArgs<'BinAdditionalFeesUpdated'>): BinFeesUpdated => ({
    kind: 'binFeesUpdated',
    ...args,
  }),
  ProtocolFeesCollected: (args: FlatArgs<'ProtocolFeesCollected'>): FeesCollected => ({
    kind: 'feesCollected',
    ...args,
  }),
};

/** Normalises a factory's `PoolCreated`; flat and packed pools share its fields. */
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

/** The direction gives the sign, so that it does not matter with which sign a release emits removals. */
function liquidityChanged(
  direction: LiquidityChanged['direction'],
  args: FlatArgs<'LiquidityAdded'>,
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

function lowercase(address: Address): Address {
  return address.toLowerCase() as Address;
}
