import type { Address } from 'viem';
import type { PoolRecord } from '../../db/listing/pool-record.ts';
import type { Tier } from '../../protocol/classification.ts';
import type { ExtensionRow } from '../pools/extension-rows.ts';
import type { ProviderRow } from '../pools/provider-rows.ts';
import type { PoolDay } from './analytics.ts';

export type TokenRow = {
  readonly address: Address;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
  /** USD per whole token; null without a fresh price. */
  readonly usd: number | null;
};

/** All that the listing needs to know of a pool. */
export type PoolFactsRow = {
  readonly chainId: number;
  readonly address: Address;
  readonly factory: Address;
  readonly createdBlockNumber: number;
  readonly createdTimestamp: number;
  readonly tokens: readonly [TokenRow, TokenRow];
  readonly creator: Address;
  readonly admin: Address;
  readonly adminUsername: string | null;
  readonly adminVerified: boolean;
  readonly adminFeeDestination: Address;
  readonly protocolSpreadFeeE6: number;
  readonly adminSpreadFeeE6: number;
  readonly protocolNotionalFeeE8: number;
  readonly adminNotionalFeeE8: number;
  readonly priceProvider: Address;
  readonly priceProviderSinceBlock: number;
  readonly priceProviderTimelockSecs: bigint;
  readonly pendingProvider: { readonly address: Address; readonly block: number; readonly executeAfter: bigint } | null;
  /** Null when no known factory made the provider. */
  readonly provider: ProviderRow | null;
  /** `unknown` without a recent reading. */
  readonly priceStatus: PoolRecord['priceProviderStatus'];
  readonly pauseLevel: number;
  readonly curBinIdx: number;
  readonly extensions: readonly ExtensionRow[];
  readonly delisted: boolean;
  /** Null until classified. */
  readonly classification: { readonly tier: Tier; readonly reasonCodes: readonly string[] } | null;
  readonly day: PoolDay;
};
