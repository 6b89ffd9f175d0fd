import type { Address } from 'viem';

/** Moments at which a pool calls its extensions, in the order of the pool's extension orders. */
export const EXTENSION_PHASES = [
  'beforeAddLiquidity',
  'afterAddLiquidity',
  'beforeRemoveLiquidity',
  'afterRemoveLiquidity',
  'beforeSwap',
  'afterSwap',
] as const;

export type ExtensionPhase = (typeof EXTENSION_PHASES)[number];
/** The phases in which an extension can reject a swap. */
export const SWAP_PHASES: readonly ExtensionPhase[] = ['beforeSwap', 'afterSwap'];

/** An extension of a pool and the phases it runs in; no phase when it is attached but in no order. */
export interface AttachedExtension {
  readonly address: Address;
  readonly phases: readonly ExtensionPhase[];
}

/** Shape of a bin: fixed at creation, but for its additional fees. */
export interface BinShape {
  readonly bin: number;
  readonly lengthE6: number;
  readonly addFeeBuyE6: number;
  readonly addFeeSellE6: number;
}

/** `PoolCreated` of a factory, free of its layout's packing. Addresses are lowercase. */
export interface PoolCreation {
  readonly pool: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly poolIdx: bigint;
  readonly factory: Address;
  readonly admin: Address;
  readonly priceProvider: Address;
  readonly extensions: readonly AttachedExtension[];
  /** The extension orders as emitted: up to seven 3-bit numbers, 1-based, least significant first. */
  readonly extensionOrders: Readonly<Record<ExtensionPhase, bigint>>;
  /** Seconds; 2^256 - 1 means that the provider can never change. */
  readonly priceProviderTimelock: bigint;
  readonly initialAmount0PerShareE18: bigint;
  readonly initialAmount1PerShareE18: bigint;
  readonly minimalMintableLiquidity: bigint;
  readonly protocolSpreadFeeE6: number;
  readonly protocolNotionalFeeE8: number;
  readonly adminSpreadFeeE6: number;
  readonly adminNotionalFeeE8: number;
  readonly adminFeeDestination: Address;
  /** Signed distance of the lower edge of bin 0, the first current bin, from the mid price. */
  readonly curBinDistE6: number;
  /** Ascending by bin, without gaps. */
  readonly bins: readonly BinShape[];
}

/** Change of one bin by a liquidity event. Amounts are scaled and signed: positive into the pool. */
export interface BinLiquidityChange {
  readonly bin: number;
  readonly delta0Scaled: bigint;
  readonly delta1Scaled: bigint;
  /** Signed: negative when shares were burnt. */
  readonly sharesDelta: bigint;
}

export interface LiquidityChanged {
  readonly kind: 'liquidityChanged';
  readonly direction: 'added' | 'removed';
  readonly provider: Address;
  readonly salt: bigint;
  readonly changes: readonly BinLiquidityChange[];
}

/** One bin's part of a swap; comes before the `Swapped` of the same swap. */
export interface BinSwapped {
  readonly kind: 'binSwapped';
  readonly bin: number;
  /** Exact change of the bin's stored balances, scaled, positive into the pool. */
  readonly delta0Scaled: bigint;
  readonly delta1Scaled: bigint;
  /** Part of the bin fee that stays with the bin, scaled, in the input token; it is inside the input delta. */
  readonly lpFeeScaled: bigint;
}

/** What a swap moves. Raw units, positive into the pool. */
export interface SwapDeltas {
  readonly amount0Delta: bigint;
  readonly amount1Delta: bigint;
}

export interface Swapped extends SwapDeltas {
  readonly kind: 'swapped';
  readonly sender: Address;
  readonly recipient: Address;
  readonly exactInput: boolean;
  /** Cursor after the swap. */
  readonly curBin: number;
  readonly posInBin: bigint;
  /** Bin fees that left to protocol and admin, scaled, in the input token. */
  readonly protocolFeeScaled: bigint;
}

/** Two numbers of 128 bits that share a word. */
export interface Halves {
  readonly high: bigint;
  readonly low: bigint;
}

/** One bin's part of a packed swap; comes before the `PackedSwapped` of the same swap. */
export interface PackedBinSwapped {
  readonly kind: 'packedBinSwapped';
  readonly bin: number;
  /** Change of the bin's balances, positive into the pool; scaled or raw units. */
  readonly delta0: bigint;
  readonly delta1: bigint;
  /** Scaled. Halves are fees by token or by kind, depending on the interpretation. */
  readonly fees: Halves;
}

/** A packed `Swap`: certain fields, and words whose meaning depends on the interpretation. */
export interface PackedSwapped extends SwapDeltas {
  readonly kind: 'packedSwapped';
  readonly sender: Address;
  readonly recipient: Address;
  readonly details: bigint;
  /** Scaled. Halves are fees by token or by kind, depending on the interpretation. */
  readonly platformFees: Halves;
}

/** Fees paid out, raw units. */
export interface FeesCollected {
  readonly kind: 'feesCollected';
  readonly amount0ToProtocol: bigint;
  readonly amount1ToProtocol: bigint;
  readonly amount0ToAdmin: bigint;
  readonly amount1ToAdmin: bigint;
}

/** All pool events, free of their layout's packing. Addresses are lowercase. */
export type PoolEvent =
  | LiquidityChanged
  | BinSwapped
  | Swapped
  | PackedBinSwapped
  | PackedSwapped
  | FeesCollected
  | { readonly kind: 'spreadFeeUpdated'; readonly spreadFeeE6: number }
  | { readonly kind: 'notionalFeeUpdated'; readonly notionalFeeE8: number }
  | { readonly kind: 'pauseLevelUpdated'; readonly previousLevel: number; readonly newLevel: number }
  | { readonly kind: 'priceProviderUpdated'; readonly priceProvider: Address }
  | ({ readonly kind: 'binFeesUpdated' } & Omit<BinShape, 'lengthE6'>)
  /** A setting of packed pools whose effect is not public. */
  | { readonly kind: 'asymmetryUpdated'; readonly asymmetryX8: number };

/** The pool event of a kind. */
export type PoolEventOf<Kind extends PoolEvent['kind']> = Extract<PoolEvent, { readonly kind: Kind }>;
