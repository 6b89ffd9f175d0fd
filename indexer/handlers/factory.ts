import type { Address } from 'viem';
import { factory, factoryCollection } from '../schema/factories.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';

type FactoryRow = typeof factory.$inferSelect;

/** Changes what a factory says of itself. */
export async function updateFactory(
  { db }: HandlerContext,
  place: LogPlace,
  address: Address,
  changes: Partial<Omit<FactoryRow, 'chainId' | 'address'>>,
): Promise<void> {
  const values = { ...changes, ...stampOf(place) };
  await db
    .insert(factory)
    .values({ chainId: place.chainId, address, ...values })
    .onConflictDoUpdate(values);
}

/** Tokens left a factory; the amount is in raw units. */
export async function recordFactoryCollection(
  { db }: HandlerContext,
  place: LogPlace,
  address: Address,
  { token, to, amount }: { token: Address; to: Address; amount: bigint },
): Promise<void> {
  await db.insert(factoryCollection).values({ ...place, factory: address, token, recipient: to, amountRaw: amount });
}
