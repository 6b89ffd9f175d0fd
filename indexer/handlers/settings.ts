import { type Address, zeroAddress } from 'viem';
import type { allowlist, allowlistEntry, priceVelocity, stopLoss, stopLossWatermark } from '../schema/extensions.ts';
import type { factory } from '../schema/factories.ts';
import type { priceProviderSetting } from '../schema/providers.ts';
import { type HandledLog, placeOf, stampOf } from './context.ts';

/** Tables of settings that each have an event of their own. */
type SettingsTable =
  | typeof allowlist
  | typeof allowlistEntry
  | typeof factory
  | typeof priceProviderSetting
  | typeof priceVelocity
  | typeof stopLoss
  | typeof stopLossWatermark;

/** Columns of a row, except its chain and block. */
type Columns<Table extends SettingsTable> = Omit<Table['$inferInsert'], 'chainId' | 'blockNumber' | 'blockTimestamp'>;

/** Changes columns of a row, or adds the row. Settings that no event has announced stay null. */
export async function changeSettings<Table extends SettingsTable, Key extends Partial<Columns<Table>>>(
  { event, context }: HandledLog,
  table: Table,
  key: Key,
  changes: Omit<Columns<Table>, keyof Key>,
): Promise<void> {
  const place = placeOf(event, context);
  const values = { ...changes, ...stampOf(place) };
  const row = { chainId: place.chainId, ...key, ...values };
  // The parameters ensure that the types match. Ponder's types cannot infer that for a generic table.
  await context.db
    .insert(table as never)
    .values(row as never)
    .onConflictDoUpdate(values as never);
}

/** The address, or null for the zero address, which means that there is none. */
export function addressOrNull(address: Address): Address | null {
  return address === zeroAddress ? null : address;
}
