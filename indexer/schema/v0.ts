import { bigint, boolean, hex, onchainTable } from 'ponder';
import { byPlaceAndPool, chainId, keyOf, logPlace, sentBy, stamp } from './columns.ts';

/*
 * The oldest generation of pools: who trades what with them, and nothing of their state. Apart from the tables of other
 * pools, since whoever reads those would list and quote them.
 */

/** A pool of the oldest generation, as it was created. */
export const v0Pool = onchainTable(
  'v0_pool',
  {
    chainId: chainId(),
    address: hex().notNull(),
    token0: hex().notNull(),
    token1: hex().notNull(),
    ...stamp(),
  },
  keyOf('chainId', 'address'),
);

/** Every swap of those pools. What of the amounts is a fee is not logged. */
export const v0Swap = onchainTable(
  'v0_swap',
  {
    ...logPlace(),
    pool: hex().notNull(),
    sender: hex().notNull(),
    recipient: hex().notNull(),
    ...sentBy(),
    /** True when token0 went in; null when nothing moved. */
    zeroForOne: boolean(),
    exactInput: boolean().notNull(),
    amount0Raw: bigint().notNull(),
    amount1Raw: bigint().notNull(),
  },
  byPlaceAndPool,
);
