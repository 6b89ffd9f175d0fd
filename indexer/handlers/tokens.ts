import type { Address } from 'viem';
import { token as tokenTable } from '../schema/pools.ts';
import { readTokens } from './chain-reads.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';

/** Adds the tokens of a pool that are new to the index. @returns decimals of each; null where a token reports none */
export async function recordTokens(
  context: HandlerContext,
  place: LogPlace,
  addresses: readonly Address[],
): Promise<(number | null)[]> {
  const { db } = context;
  const { chainId } = place;
  const known = await Promise.all(addresses.map((address) => db.find(tokenTable, { chainId, address })));
  const newTokens = addresses.filter((_, index) => known[index] === null);
  const read = await readTokens(context, newTokens);
  const added = newTokens.map((address, index) => ({ chainId, address, ...read[index], ...stampOf(place) }));
  if (added.length > 0) await db.insert(tokenTable).values(added);
  const described = [...known, ...added];
  return addresses.map((address) => described.find((token) => token?.address === address)?.decimals ?? null);
}
