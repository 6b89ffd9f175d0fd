import { bigint, customType, timestamp } from 'drizzle-orm/pg-core';
import type { Address, Hex } from 'viem';

/** Chain ids, block numbers and Unix seconds, all below 2^53. */
export const int8 = (name: string) => bigint(name, { mode: 'number' });

export const instant = (name: string, precision?: 3) =>
  timestamp(name, { withTimezone: true, ...(precision !== undefined && { precision }) });

/** Lowercase address in a view. */
export const address = customType<{ data: Address }>({ dataType: () => 'text' });

/** Lowercase address in a table, checked by its domain. */
export const checkedAddress = customType<{ data: Address }>({ dataType: () => 'operator.address' });

/** Hash or feed id, lowercase. */
export const hex = customType<{ data: Hex }>({ dataType: () => 'text' });

export const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** An integer of up to 256 bits. The driver returns it as text. */
export const wide = customType<{ data: bigint; driverData: string; config: { digits: number } }>({
  dataType: (config) => (config ? `numeric(${config.digits}, 0)` : 'numeric'),
  fromDriver: BigInt,
  toDriver: String,
});
