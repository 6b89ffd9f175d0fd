import { bigint, hex, integer, onchainTable } from 'ponder';
import { chainId, keyOf, logPlace, stamp } from './columns.ts';

/** A pool factory with the defaults and caps that it announced. A value is null until an event announces it. */
export const factory = onchainTable(
  'factory',
  {
    chainId: chainId(),
    address: hex().notNull(),
    poolDeployer: hex(),
    defaultProtocolSpreadFeeE6: integer('default_protocol_spread_fee_e6'),
    defaultProtocolNotionalFeeE8: integer('default_protocol_notional_fee_e8'),
    maxProtocolSpreadFeeE6: integer('max_protocol_spread_fee_e6'),
    maxAdminSpreadFeeE6: integer('max_admin_spread_fee_e6'),
    maxProtocolNotionalFeeE8: integer('max_protocol_notional_fee_e8'),
    maxAdminNotionalFeeE8: integer('max_admin_notional_fee_e8'),
    /** This and the distance limits: only factories of packed pools have them. */
    maxBidAskRefAsymmetryX8: integer('max_bid_ask_ref_asymmetry_x8'),
    minBinDistanceE6: bigint('min_bin_distance_e6'),
    maxBinDistanceE6: bigint('max_bin_distance_e6'),
    feeReceiver: hex(),
    ...stamp(),
  },
  keyOf('chainId', 'address'),
);

/** Tokens that were withdrawn from a factory. */
export const factoryCollection = onchainTable(
  'factory_collection',
  {
    ...logPlace(),
    factory: hex().notNull(),
    token: hex().notNull(),
    recipient: hex().notNull(),
    amountRaw: bigint().notNull(),
  },
  keyOf('chainId', 'blockNumber', 'logIndex'),
);
