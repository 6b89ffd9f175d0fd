import { type Address, zeroAddress } from 'viem';
import { priceProvider, priceProviderSetting } from '../schema/providers.ts';
import { readConfidenceParam } from './chain-reads.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';

type ProviderRow = typeof priceProvider.$inferInsert;
/** What a factory says of a provider it made. */
export type ProviderDeployment = Omit<ProviderRow, 'chainId' | 'factory' | 'blockNumber' | 'blockTimestamp'>;

/** Adds a provider that a known factory made. */
export async function recordProvider(
  context: HandlerContext,
  place: LogPlace,
  factory: Address,
  deployment: ProviderDeployment,
  multicall3: Address,
): Promise<void> {
  const confidenceParam = await readConfidenceParam(context, multicall3, deployment.address);
  if (confidenceParam !== null) await updateProviderSetting(context, place, deployment.address, { confidenceParam });
  await context.db.insert(priceProvider).values({ chainId: place.chainId, factory, ...deployment, ...stampOf(place) });
}

/**
 * Changes what can be tuned on a provider. A provider may set it while it is constructed, before its factory announces
 * it: settings are in a table of their own.
 */
export async function updateProviderSetting(
  { db }: HandlerContext,
  place: LogPlace,
  address: Address,
  changes: { source: Address | null } | { confidenceParam: bigint },
): Promise<void> {
  const values = { ...changes, ...stampOf(place) };
  await db
    .insert(priceProviderSetting)
    .values({ chainId: place.chainId, address, ...values })
    .onConflictDoUpdate(values);
}

/** Null for the zero address, which stands for none. */
export function addressOrNull(address: Address): Address | null {
  return address === zeroAddress ? null : address;
}
