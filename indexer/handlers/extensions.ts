import type { Address } from 'viem';
import { allowlist, allowlistEntry, priceVelocity, stopLoss, stopLossWatermark } from '../schema/extensions.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';

/** A pool's settings live in the extension contract: the same contract serves many pools. */
interface ExtensionKey {
  readonly address: Address;
  readonly pool: Address;
}

type ChangesOf<Row> = Partial<Omit<Row, 'chainId' | 'address' | 'pool' | 'blockNumber' | 'blockTimestamp'>>;

/** Changes settings, or proposals of them, that a pool has at a StopLoss. */
export async function updateStopLoss(
  { db }: HandlerContext,
  place: LogPlace,
  key: ExtensionKey,
  changes: ChangesOf<typeof stopLoss.$inferSelect>,
): Promise<void> {
  const values = { ...changes, ...stampOf(place) };
  await db
    .insert(stopLoss)
    .values({ chainId: place.chainId, ...key, ...values })
    .onConflictDoUpdate(values);
}

export async function recordWatermark(
  { db }: HandlerContext,
  place: LogPlace,
  key: ExtensionKey,
  { binIdx, newHwmToken0, newHwmToken1 }: { binIdx: number; newHwmToken0: bigint; newHwmToken1: bigint },
): Promise<void> {
  const values = { watermarkToken0: newHwmToken0, watermarkToken1: newHwmToken1, ...stampOf(place) };
  await db
    .insert(stopLossWatermark)
    .values({ chainId: place.chainId, binIdx, ...key, ...values })
    .onConflictDoUpdate(values);
}

/** Changes what a pool has at a PriceVelocityGuard. */
export async function updatePriceVelocity(
  { db }: HandlerContext,
  place: LogPlace,
  key: ExtensionKey,
  changes: ChangesOf<typeof priceVelocity.$inferSelect>,
): Promise<void> {
  const values = { ...changes, ...stampOf(place) };
  await db
    .insert(priceVelocity)
    .values({ chainId: place.chainId, ...key, ...values })
    .onConflictDoUpdate(values);
}

export type GuardedAction = 'deposit' | 'swap';

/** Opens a pool's allowlist to everyone, or closes it again. */
export async function setAllowAll(
  { db }: HandlerContext,
  place: LogPlace,
  key: ExtensionKey,
  action: GuardedAction,
  allowAll: boolean,
): Promise<void> {
  const values = { allowAll, ...stampOf(place) };
  await db
    .insert(allowlist)
    .values({ chainId: place.chainId, ...key, action, ...values })
    .onConflictDoUpdate(values);
}

export async function setAllowed(
  { db }: HandlerContext,
  place: LogPlace,
  key: ExtensionKey & { readonly account: Address },
  action: GuardedAction,
  allowed: boolean,
): Promise<void> {
  const values = { allowed, ...stampOf(place) };
  await db
    .insert(allowlistEntry)
    .values({ chainId: place.chainId, ...key, action, ...values })
    .onConflictDoUpdate(values);
}
