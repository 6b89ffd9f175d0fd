import { type AnyPgColumn, customType } from 'drizzle-orm/pg-core';
import { hex, index, int8, integer, type PrimaryKeyBuilder, primaryKey } from 'ponder';
import { arrayLiteral } from './number-list.ts';

/*
 * Column suffixes give the unit: `_raw` token units as in ERC-20 transfers, `_scaled` a pool's internal units (raw x
 * its scale multiplier), `_e6` millionths, `_e8` and `_e18` likewise, `_x64` Q64.64, `_secs` seconds. Signed amounts
 * are positive into the pool. Addresses and hashes are lowercase text, timestamps Unix seconds. A row of state carries
 * the block that changed it last.
 *
 * Column names are the keys in snake case. `E6` and the like would become `_e_6`, so these names are spelled out.
 */

export const chainId = () => int8({ mode: 'number' }).notNull();

export const stamp = () => ({
  blockNumber: int8({ mode: 'number' }).notNull(),
  blockTimestamp: int8({ mode: 'number' }).notNull(),
});

/** Place of a log on its chain; `(chain_id, block_number, log_index)` is the key of every event table. */
export const logPlace = () => ({
  chainId: chainId(),
  ...stamp(),
  logIndex: integer().notNull(),
  transactionHash: hex().notNull(),
});

/** The transaction of a log: its place in the block, who sent it, and the contract that it called, or null. */
export const sentBy = () => ({
  transactionIndex: integer().notNull(),
  transactionFrom: hex().notNull(),
  transactionTo: hex(),
});

/** Primary key of a table, made of these columns. */
export const keyOf =
  <Name extends string>(...columns: readonly Name[]) =>
  (table: Readonly<Record<Name, AnyPgColumn>>) => ({
    key: primaryKey({ columns: columns.map((name) => table[name]) as never }) as PrimaryKeyBuilder<Name>,
  });

/** Primary key and index of a table of pool events. */
export const byPlaceAndPool = (
  table: Readonly<Record<'chainId' | 'blockNumber' | 'logIndex' | 'pool' | 'blockTimestamp', AnyPgColumn>>,
) => ({
  ...keyOf('chainId', 'blockNumber', 'logIndex')(table),
  byPoolAndTime: index().on(table.chainId, table.pool, table.blockTimestamp),
});

/** A list that rows hold as {@link arrayLiteral}. Ponder would copy an array element by element. */
export const list = (elements: 'integer' | 'numeric(78)', name = '') => optionalList(elements, name).notNull();

export const optionalList = (elements: 'integer' | 'numeric(78)', name = '') =>
  customType<{ data: string; driverData: string | number[] }>({
    dataType: () => `${elements}[]`,
    // Drivers return numeric arrays as text, and parse integer arrays.
    fromDriver: (value) => (typeof value === 'string' ? value : arrayLiteral(value)),
  })(name);
