import { type AnyPgColumn, customType } from 'drizzle-orm/pg-core';
import { hex, index, int8, integer, type PrimaryKeyBuilder, primaryKey } from 'ponder';
import { arrayLiteral } from '../reducers/number-list.ts';

/*
 * Column suffixes give the unit: `_raw` token units as in ERC-20 transfers, `_scaled` a pool's internal units (raw x its
 * scale multiplier), `_e6` millionths, `_e8` and `_e18` likewise, `_x64` Q64.64, `_secs` seconds. Signed amounts are
 * positive into the pool. Addresses and hashes are lowercase text, timestamps Unix seconds. A row of state carries the
 * block that changed it last.
 *
 * Names come from the keys in snake case, but for `E6` and the like, which would become `_e_6`: these are spelled out.
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

/** The key of a table: these columns together. */
export const keyOf =
  <Name extends string>(...columns: readonly Name[]) =>
  (table: Readonly<Record<Name, AnyPgColumn>>) => ({
    key: primaryKey({ columns: columns.map((name) => table[name]) as never }) as PrimaryKeyBuilder<Name>,
  });

/** Key and index of a table of a pool's events. */
export const byPlaceAndPool = (
  table: Readonly<Record<'chainId' | 'blockNumber' | 'logIndex' | 'pool' | 'blockTimestamp', AnyPgColumn>>,
) => ({
  ...keyOf('chainId', 'blockNumber', 'logIndex')(table),
  byPoolAndTime: index().on(table.chainId, table.pool, table.blockTimestamp),
});

/** A list, held as {@link arrayLiteral}: Ponder would copy an array of a row deeply, element by element. */
export const list = (elements: 'integer' | 'numeric(78)', name = '') => optionalList(elements, name).notNull();

export const optionalList = (elements: 'integer' | 'numeric(78)', name = '') =>
  customType<{ data: string; driverData: string | number[] }>({
    dataType: () => `${elements}[]`,
    // A driver gives numeric arrays as they are and parses those of integers.
    fromDriver: (value) => (typeof value === 'string' ? value : arrayLiteral(value)),
  })(name);
