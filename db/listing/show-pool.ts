import { joinJson, joinObjects, ReadyJson } from '../../runtime/joined-json.ts';
import type { Executability } from './executability.ts';
import type { Persistence } from './persistence.ts';
import type { PoolAnalytics } from './pool-analytics.ts';
import type { PoolRecord } from './pool-record.ts';
import type { Trend } from './trend.ts';

/** The stored part of a {@link PoolRecord}: all fields that do not depend on when it is read. */
export type StoredRecord = Omit<
  PoolRecord,
  | 'priceProviderStatus'
  | 'swapGas'
  | 'token0FiatPrice'
  | 'token1FiatPrice'
  | 'tvlFiat'
  | 'executability'
  | 'trend24h'
  | 'persistence24h'
  | 'analytics24h'
>;

/** The 24-hour window that all pools of a chain share. */
export type AnalyticsWindow = Pick<PoolAnalytics, 'fromTs' | 'toTs' | 'generatedAtTs' | 'fromBlock' | 'toBlock'>;

/** The stored part of {@link PoolAnalytics}: all fields except the window. */
export type StoredAnalytics = Omit<PoolAnalytics, keyof AnalyticsWindow>;

/** A stored pool, with the values that are known only when it is read. */
export type PoolAtRead = {
  /** {@link StoredRecord} as JSON. */
  readonly record: string;
  readonly status: PoolRecord['priceProviderStatus'];
  readonly swapGas: PoolRecord['swapGas'];
  /** USD per whole token. */
  readonly prices: readonly [number | null, number | null];
  /** The 24-hour part; null when the client did not request it. */
  readonly day: {
    /** {@link StoredAnalytics} as JSON; `null` where the index of the pool is not what the chain holds. */
    readonly analytics: string;
    readonly window: AnalyticsWindow;
    /** USD, a JSON number as text; null when unknown. */
    readonly tvlFiat: string | null;
    readonly executability: Executability;
    readonly trend24h: Trend;
    readonly persistence24h: Persistence | null;
  } | null;
};

/** Completes a stored pool to the JSON of a {@link PoolRecord}: adds prices, status and any 24-hour part. */
export function showPool({ record, status, swapGas, prices, day }: PoolAtRead): string {
  const [token0FiatPrice, token1FiatPrice] = prices;
  const current = { token0FiatPrice, token1FiatPrice, priceProviderStatus: status, swapGas };
  const shown = joinObjects(record, JSON.stringify(current));
  if (day === null) return shown;
  const { analytics } = day;
  const analytics24h = analytics === 'null' ? analytics : joinObjects(JSON.stringify(day.window), analytics);
  const { executability, trend24h, persistence24h } = day;
  const tvlFiat = new ReadyJson(String(day.tvlFiat));
  return joinObjects(
    shown,
    joinJson({ tvlFiat, executability, trend24h, persistence24h, analytics24h: new ReadyJson(analytics24h) }).join(''),
  );
}
