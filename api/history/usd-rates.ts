import type { Address } from 'viem';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';

/** Binary digits of a rate's fraction. */
export const RATE_BITS = 128n;

/** US dollars per whole token when a bar begins (Unix seconds), times 2^128; null when not known. */
export type RateX128 = (startTs: number) => bigint | null;

/** A rate that leaves prices in their token. */
export const IN_TOKENS: RateX128 = () => 1n << RATE_BITS;

const usdAt = loadStatement<{ readonly ts: string; readonly usd: number }>('./usd-rates.sql', import.meta.url);

/** Reads the prices of a token that were in force at these times. */
export async function selectRates(
  database: Queryable,
  chainId: number,
  token: Address,
  startTs: readonly number[],
): Promise<RateX128> {
  const rows = await usdAt(database, [chainId, token, startTs]);
  // Scaling by a power of two is exact.
  const rates = new Map(rows.map(({ ts, usd }) => [Number(ts), BigInt(Math.floor(usd * 2 ** Number(RATE_BITS)))]));
  return (ts) => rates.get(ts) ?? null;
}
