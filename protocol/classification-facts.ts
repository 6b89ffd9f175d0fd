import type { Address, Hex } from 'viem';
import type { AttachedExtension, ExtensionPhase } from './pool-events.ts';

/** What the operator knows of a pool token. Addresses and feed ids are lowercase. */
export interface TokenFacts {
  readonly address: Address;
  /** Feeds known to price this token. */
  readonly feedIds: readonly Hex[];
  readonly usdPegged: boolean;
  /** For a tokenized stock: the only oracle that knows the issuer's multiplier. */
  readonly multiplierOracle: Address | null;
}

/** What every recognised price provider tells. Its first feed prices `base`, its second, if any, `quote`. */
interface ProviderFeeds {
  readonly oracle: Address;
  readonly base: Address;
  readonly quote: Address;
  readonly baseFeedId: Hex;
  /** Null when one feed prices the pair. */
  readonly quoteFeedId: Hex | null;
  /** True when the operator knows `oracle` as the multiplier oracle of any token. */
  readonly usesMultiplierOracle: boolean;
}

export interface AnchoredProviderFacts extends ProviderFeeds {
  readonly kind: 'anchored';
  readonly mutableParams: boolean;
  readonly maxRefStalenessSecs: bigint;
}

export interface RegularProviderFacts extends ProviderFeeds {
  readonly kind: 'regular';
}

/** A provider that no known factory created. */
export interface UnknownProviderFacts {
  readonly kind: 'unknown';
}

export interface StopLossFacts {
  readonly phases: readonly ExtensionPhase[];
  readonly initialized: boolean;
  readonly drawdownE6: bigint;
  readonly decayPerSecondE18: bigint;
  readonly timelockSecs: bigint;
}

/** All that a pool's tier depends on. */
export interface PoolFacts {
  /** Width of the widest bin, millionths. */
  readonly widestBinE6: number;
  /** Null when the pool has no StopLoss extension. */
  readonly stopLoss: StopLossFacts | null;
  readonly provider: AnchoredProviderFacts | RegularProviderFacts | UnknownProviderFacts;
  /** Seconds; 2^256 - 1 means never. */
  readonly priceProviderTimelock: bigint;
  readonly admin: Address;
  readonly creator: Address;
  readonly adminVerified: boolean;
  readonly extensions: readonly AttachedExtension[];
  readonly token0: TokenFacts;
  readonly token1: TokenFacts;
}
