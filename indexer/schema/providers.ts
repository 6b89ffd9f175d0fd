import { bigint, boolean, hex, integer, onchainTable, text } from 'ponder';
import { chainId, keyOf, stamp } from './columns.ts';

/** A price provider made by a known factory: what it was deployed with. Fields of the other kind are null. */
export const priceProvider = onchainTable(
  'price_provider',
  {
    chainId: chainId(),
    address: hex().notNull(),
    /** `anchored`, `regular` or `regular_l2`. */
    kind: text().notNull(),
    factory: hex().notNull(),
    creator: hex().notNull(),
    oracle: hex().notNull(),
    base: hex().notNull(),
    quote: hex().notNull(),
    marginStep: bigint().notNull(),
    /** The feed of a regular provider, the base feed of an anchored one. */
    baseFeedId: hex().notNull(),
    /** Anchored: zero when one feed is enough. */
    quoteFeedId: hex(),
    classId: hex(),
    minMargin: bigint(),
    maxRefStalenessSecs: bigint(),
    maxSpreadBps: integer(),
    mutableParams: boolean(),
    /** Regular. */
    maxTimeDeltaSecs: bigint(),
    /** Regular, L2 form only. */
    futureToleranceSecs: bigint(),
    ...stamp(),
  },
  keyOf('chainId', 'address'),
);

/** What can be tuned on a provider after its deployment; null for what it does not have or nobody set. */
export const priceProviderSetting = onchainTable(
  'price_provider_setting',
  {
    chainId: chainId(),
    address: hex().notNull(),
    /** Custom source of an anchored provider; null in reference mode. */
    source: hex(),
    confidenceParam: bigint(),
    ...stamp(),
  },
  keyOf('chainId', 'address'),
);
