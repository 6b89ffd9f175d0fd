import { priceProviders } from '../../db/schema/read-model.ts';

type ProviderView = typeof priceProviders.$inferSelect;

/** A price provider made by a known factory. Fields of the other kind are null. */
export type ProviderRow = Omit<ProviderView, 'chainId' | 'address'>;

/** What is selected of a pool's provider, left joined: all is null when no known factory made it. */
export const PROVIDER_COLUMNS = {
  kind: priceProviders.kind,
  oracle: priceProviders.oracle,
  base: priceProviders.base,
  quote: priceProviders.quote,
  marginStep: priceProviders.marginStep,
  baseFeedId: priceProviders.baseFeedId,
  quoteFeedId: priceProviders.quoteFeedId,
  minMargin: priceProviders.minMargin,
  maxRefStalenessSecs: priceProviders.maxRefStalenessSecs,
  maxSpreadBps: priceProviders.maxSpreadBps,
  mutableParams: priceProviders.mutableParams,
  maxTimeDeltaSecs: priceProviders.maxTimeDeltaSecs,
  source: priceProviders.source,
  confidenceParam: priceProviders.confidenceParam,
} satisfies { readonly [Field in keyof ProviderRow]: (typeof priceProviders)[Field] };

const ZERO_WORD = `0x${'0'.repeat(64)}`;

/** @returns the provider without a quote feed when one feed prices the pair */
export function toProvider(row: ProviderRow | null): ProviderRow | null {
  return row?.quoteFeedId === ZERO_WORD ? { ...row, quoteFeedId: null } : row;
}
