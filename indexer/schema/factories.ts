import { bigint, hex, integer, onchainTable, primaryKey } from 'ponder';
import { chainId, logPlace, stamp } from './columns.ts';

/** A pool factory: defaults and caps that it announced; null until it did. */
export const factory = onchainTable(
  'factory',
  {
    chainId: chainId(),
    address: hex().notNull(),
    poolDeployer: hex(),
    defaultProtocolSpreadFeeE6: integer(),
    defaultProtocolNotionalFeeE8: integer(),
    maxProtocolSpreadFeeE6: integer(),
    maxAdminSpreadFeeE6: integer(),
    maxProtocolNotionalFeeE8: integer(),
    maxAdminNotionalFeeE8: integer(),
    ...stamp(),
  },
  (table) => ({
    key: primaryKey({ columns: [table.chainId, table.address] }),
  }),
);

/** Tokens taken out of a factory. */
export const factoryCollection = onchainTable(
  'factory_collection',
  {
    ...logPlace(),
    factory: hex().notNull(),
    token: hex().notNull(),
    recipient: hex().notNull(),
    amountRaw: bigint().notNull(),
  },
  (table) => ({
    key: primaryKey({ columns: [table.chainId, table.blockNumber, table.logIndex] }),
  }),
);
