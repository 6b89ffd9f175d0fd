import { bigint, boolean, hex, integer, onchainTable, text } from 'ponder';
import { chainId, keyOf, stamp } from './columns.ts';

/** A price provider of a known factory, with its parameters at deployment. Parameters of other kinds are null. */
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
    /** This and the next five: anchored providers only. The quote feed is zero when the provider reads one feed. */
    quoteFeedId: hex(),
    classId: hex(),
    minMargin: bigint(),
    maxRefStalenessSecs: bigint(),
    maxSpreadBps: integer(),
    mutableParams: boolean(),
    /** Regular providers only. */
    maxTimeDeltaSecs: bigint(),
    /** Regular providers on L2 only. */
    futureToleranceSecs: bigint(),
    ...stamp(),
  },
  keyOf('chainId', 'address'),
);

/** Settings of a provider that can change after deployment. Null when it lacks the setting, or nobody has set it. */
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
