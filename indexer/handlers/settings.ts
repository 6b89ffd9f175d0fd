import { type Address, zeroAddress } from 'viem';
import type { allowlist, allowlistEntry, priceVelocity, stopLoss, stopLossWatermark } from '../schema/extensions.ts';
import type { factory } from '../schema/factories.ts';
import type { priceProviderSetting } from '../schema/providers.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';

/** Tables of settings that events announce one by one, of a pool or not. */
type SettingsTable =
  | typeof allowlist
  | typeof allowlistEntry
  | typeof factory
  | typeof priceProviderSetting
  | typeof priceVelocity
  | typeof stopLoss
  | typeof stopLossWatermark;

/** Columns of a row, apart from where it stands. */
type Columns<Table extends SettingsTable> = Omit<Table['$inferInsert'], 'chainId' | 'blockNumber' | 'blockTimestamp'>;

/** Changes columns of a row, or adds it: settings that were never announced are null. */
export async function changeSettings<Table extends SettingsTable, Key extends Partial<Columns<Table>>>(
  { db }: HandlerContext,
  place: LogPlace,
  table: Table,
  key: Key,
  changes: Omit<Columns<Table>, keyof Key>,
): Promise<void> {
  const values = { ...changes, ...stampOf(place) };
  const row = { chainId: place.chainId, ...key, ...values };
  // What the types of the parameters ensure, Ponder's types cannot conclude of a table that is not known yet.
  await db
    .insert(table as never)
    .values(row as never)
    .onConflictDoUpdate(values as never);
}

/** Null for the zero address, which stands for none. */
export function addressOrNull(address: Address): Address | null {
  return address === zeroAddress ? null : address;
}
