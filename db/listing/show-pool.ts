import { joinJson, joinObjects, ReadyJson } from '../../runtime/joined-json.ts';
import type { PoolAnalytics } from './pool-analytics.ts';
import type { PoolRecord } from './pool-record.ts';

/**
 * The part of a {@link PoolRecord} that is stored: all but what depends on the time of reading.
 */
export type StoredRecord = Omit<
  PoolRecord,
  'priceProviderStatus' | 'token0FiatPrice' | 'token1FiatPrice' | 'tvlFiat' | 'analytics24h'
>;

/** The 24-hour window that all pools of a chain share. */
export type AnalyticsWindow = Pick<PoolAnalytics, 'fromTs' | 'toTs' | 'generatedAtTs' | 'fromBlock' | 'toBlock'>;

/** The part of {@link PoolAnalytics} that is stored: all but the window. */
export type StoredAnalytics = Omit<PoolAnalytics, keyof AnalyticsWindow>;

/** A stored pool and what is known when it is read. */
export type PoolAtRead = {
  /** {@link StoredRecord} as JSON. */
  readonly record: string;
  readonly status: PoolRecord['priceProviderStatus'];
  /** USD per whole token. */
  readonly prices: readonly [number | null, number | null];
  /** Null: not asked for. */
  readonly day: {
    /** {@link StoredAnalytics} as JSON. */
    readonly analytics: string;
    readonly window: AnalyticsWindow;
    /** USD, a JSON number as text; null is unknown. */
    readonly tvlFiat: string | null;
  } | null;
};

/** The {@link PoolRecord} of a stored pool, as JSON: prices, status, and the 24-hour part if asked for, are put in here. */
export function showPool({ record, status, prices, day }: PoolAtRead): string {
  const [token0FiatPrice, token1FiatPrice] = prices;
  const now = { token0FiatPrice, token1FiatPrice, priceProviderStatus: status };
  const shown = joinObjects(record, JSON.stringify(now));
  if (day === null) return shown;
  const analytics24h = joinObjects(JSON.stringify(day.window), day.analytics);
  const tvlFiat = new ReadyJson(String(day.tvlFiat));
  return joinObjects(shown, joinJson({ tvlFiat, analytics24h: new ReadyJson(analytics24h) }).join(''));
}
