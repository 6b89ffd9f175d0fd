import type { Readings } from '../../protocol/stored-layout.ts';
import { type TokenKey, tokenKey } from '../fiat/token-key.ts';
import { toExtensions } from '../pools/extension-rows.ts';
import { toProvider } from '../pools/provider-rows.ts';
import type { KnownPair } from './analytics.ts';
import type { PoolFactsColumns } from './select-pool-facts.ts';
import { sumKnown } from './usd-value.ts';

/** All that the listing needs to know of a pool. */
export type PoolFacts = Readonly<ReturnType<typeof toFacts>>;

/**
 * Puts together what the listing takes together, and what it shows where Postgres has no row.
 *
 * @param prices USD per whole token
 */
export function toFacts(
  { token0, token1, pendingProvider, verified, day, week, readings, liquidity, storage, ...row }: PoolFactsColumns,
  prices: ReadonlyMap<TokenKey, number>,
) {
  const priced = <Token extends { readonly address: string }>(token: Token) => ({
    ...token,
    usd: prices.get(tokenKey(row.chainId, token.address)) ?? null,
  });
  return {
    ...row,
    tokens: [priced(token0), priced(token1)] as const,
    pendingProvider: wholeOrNull(pendingProvider),
    adminVerified: verified ?? false,
    provider: toProvider(row.provider),
    extensions: toExtensions(row.extensions),
    storage: storageOrNull(storage),
    week,
    readings: toReadings(readings),
    day: {
      totals: day,
      feesScaled: knownPair(allFees(day, 0), allFees(day, 1)),
      lpFeesScaled: knownPair(day.lpFee0Scaled, day.lpFee1Scaled),
      weekLpFeesScaled: knownPair(week.lpFee0Scaled, week.lpFee1Scaled),
      liquidityRaw: knownPair(liquidity.raw0, liquidity.raw1),
    },
  };
}

function allFees(totals: PoolFactsColumns['day'], side: 0 | 1): bigint | null {
  return sumKnown([
    totals[`lpFee${side}Scaled`],
    totals[`protocolFee${side}Scaled`],
    totals[`notionalFee${side}Scaled`],
  ]);
}

/** Amounts that events do not tell are null. */
function knownPair(amount0: bigint | null, amount1: bigint | null): KnownPair {
  return amount0 === null || amount1 === null ? null : [amount0, amount1];
}

/** What the pool's storage says, when it was read and counts. */
function storageOrNull(row: PoolFactsColumns['storage']) {
  const { curBinIdx = null, total0Scaled = null, total1Scaled = null } = row ?? {};
  if (curBinIdx === null || total0Scaled === null || total1Scaled === null) return null;
  return { curBinIdx, totalsScaled: [total0Scaled, total1Scaled] as const };
}

function toReadings(json: string | null): Readings {
  return json === null ? {} : JSON.parse(json);
}

/** Columns that are all null when there is nothing of theirs. */
function wholeOrNull({ address, block, executeAfter }: PoolFactsColumns['pendingProvider']) {
  return address === null || block === null || executeAfter === null ? null : { address, block, executeAfter };
}
