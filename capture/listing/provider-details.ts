import type { StoredRecord } from '../../db/listing/show-pool.ts';
import { MAX_UINT64, MAX_UINT256, minBigint } from '../../protocol/fixed-point.ts';
import { toJsonInteger } from '../../runtime/json.ts';
import type { ProviderRow } from '../pools/provider-rows.ts';
import type { PoolFacts } from './pool-facts.ts';

/** What a pool record says of the price provider, all but the status, which is judged when the record is read. */
export function providerFields(facts: PoolFacts) {
  const { provider, pendingProvider, priceProviderTimelockSecs: timelock } = facts;
  return {
    priceProviderAddress: facts.priceProvider,
    priceProviderDetails: provider ? providerDetails(provider) : undefined,
    priceProviderSinceBlock: facts.priceProviderSinceBlock,
    priceProviderCooldownSecs: shownSecs(timelock),
    lockedPricing: timelock === MAX_UINT256,
    priceProviderChange: pendingProvider
      ? {
          newPriceProvider: pendingProvider.address,
          proposedAtBlock: pendingProvider.block,
          executeAfterTs: shownSecs(pendingProvider.executeAfter),
        }
      : undefined,
  } satisfies Partial<StoredRecord>;
}

/** The largest time that is shown stands for "never" too: the factory counts up to 2^256 - 1. */
function shownSecs(seconds: bigint): number | bigint {
  return toJsonInteger(minBigint(seconds, MAX_UINT64));
}

type ProviderDetails = NonNullable<StoredRecord['priceProviderDetails']>;

function providerDetails(provider: ProviderRow): ProviderDetails {
  return provider.kind === 'anchored' ? anchoredDetails(provider) : regularDetails(provider);
}

/** What the flat layout's providers do not have is null: per-feed bounds, and spread bounds that are no multiples. */
function anchoredDetails(provider: ProviderRow): ProviderDetails {
  return {
    providerType: 'anchored',
    oracle: provider.oracle,
    feedMode: provider.quoteFeedId === null ? 'single' : 'synthetic',
    source: provider.source ?? undefined,
    marginStep: String(provider.marginStep),
    minMargin: textOrNull(provider.minMargin),
    maxRefStaleness: textOrNull(provider.maxRefStalenessSecs),
    maxSpreadMult: null,
    maxSpreadBps: textOrNull(provider.maxSpreadBps),
    mutableParams: provider.mutableParams ?? false,
    confidenceParam: textOrNull(provider.confidenceParam),
    baseMaxStaleness: null,
    quoteMaxStaleness: null,
    baseSpreadMult: null,
    quoteSpreadMult: null,
  };
}

function regularDetails(provider: ProviderRow): ProviderDetails {
  return {
    providerType: 'regular',
    oracle: provider.oracle,
    marginStep: String(provider.marginStep),
    maxTimeDelta: textOrNull(provider.maxTimeDeltaSecs),
    confidenceParam: textOrNull(provider.confidenceParam),
  };
}

function textOrNull(value: bigint | number | null): string | null {
  return value === null ? null : String(value);
}
