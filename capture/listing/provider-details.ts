import type { StoredRecord } from '../../db/listing/show-pool.ts';
import { MAX_UINT64, MAX_UINT256, minBigint } from '../../protocol/fixed-point.ts';
import { toJsonInteger } from '../../runtime/json.ts';
import type { PoolFacts, ProviderRow } from './pool-facts.ts';

/** Gives the fields of a pool record about the price provider, except its status, which is decided at each read. */
export function providerFields(facts: PoolFacts) {
  const { provider, priceProviderTimelockSecs: timelock } = facts;
  return {
    priceProviderAddress: facts.priceProvider,
    priceProviderDetails: provider ? providerDetails(provider) : undefined,
    priceProviderSinceBlock: facts.priceProviderSinceBlock,
    priceProviderCooldownSecs: shownSecs(timelock),
    lockedPricing: timelock === MAX_UINT256,
    priceProviderChange: providerChange(facts),
  } satisfies Partial<StoredRecord>;
}

function providerChange(facts: PoolFacts): StoredRecord['priceProviderChange'] {
  const newPriceProvider = facts.pendingPriceProvider;
  const proposedAtBlock = facts.pendingPriceProviderBlock;
  const executeAfter = facts.pendingPriceProviderExecuteAfter;
  if (newPriceProvider === null || proposedAtBlock === null || executeAfter === null) return undefined;
  return { newPriceProvider, proposedAtBlock, executeAfterTs: shownSecs(executeAfter) };
}

/** Limits a time to the largest that is shown, which also stands for "never": the factory counts up to 2^256 - 1. */
function shownSecs(seconds: bigint): number | bigint {
  return toJsonInteger(minBigint(seconds, MAX_UINT64));
}

/** Fields that the flat layout's providers do not have are null: per-feed bounds, and spread bounds as multiples. */
function providerDetails(provider: ProviderRow): NonNullable<StoredRecord['priceProviderDetails']> {
  const common = {
    oracle: provider.oracle,
    marginStep: String(provider.marginStep),
    confidenceParam: textOrNull(provider.confidenceParam),
  };
  if (provider.kind !== 'anchored') {
    return { providerType: 'regular', ...common, maxTimeDelta: textOrNull(provider.maxTimeDeltaSecs) };
  }
  return {
    providerType: 'anchored',
    ...common,
    feedMode: provider.quoteFeedId === null ? 'single' : 'synthetic',
    source: provider.source ?? undefined,
    minMargin: textOrNull(provider.minMargin),
    maxRefStaleness: textOrNull(provider.maxRefStalenessSecs),
    maxSpreadMult: null,
    maxSpreadBps: textOrNull(provider.maxSpreadBps),
    mutableParams: provider.mutableParams ?? false,
    baseMaxStaleness: null,
    quoteMaxStaleness: null,
    baseSpreadMult: null,
    quoteSpreadMult: null,
  };
}

function textOrNull(value: bigint | number | null): string | null {
  return value === null ? null : String(value);
}
