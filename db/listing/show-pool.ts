import type { PoolAnalytics } from './pool-analytics.ts';
import type { PoolRecord } from './pool-record.ts';

/**
 * The part of a {@link PoolRecord} that is stored: all but what depends on the time of reading. The two prices, which come
 * last in its JSON, are replaced when it is read.
 */
export type StoredRecord = Omit<PoolRecord, 'priceProviderStatus' | 'tvlFiat' | 'analytics24h'>;

/** The 24-hour window that all pools of a chain share. */
export type AnalyticsWindow = Pick<PoolAnalytics, 'fromTs' | 'toTs' | 'generatedAtTs' | 'fromBlock' | 'toBlock'>;

/** The part of {@link PoolAnalytics} that is stored: all but the window. */
export type StoredAnalytics = Omit<PoolAnalytics, keyof AnalyticsWindow>;

/** A stored pool and what is known when it is read. */
export type PoolAtReading = {
  /** {@link StoredRecord} as JSON. */
  readonly record: string;
  readonly status: PoolRecord['priceProviderStatus'];
  /** USD per whole token; null: they stand in the record. */
  readonly prices: readonly [number | null, number | null] | null;
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
export function showPool({ record, status, prices, day }: PoolAtReading): string {
  const priced = prices === null ? record : withPrices(record, prices);
  const shown = joinObjects(priced, JSON.stringify({ priceProviderStatus: status }));
  if (day === null) return shown;
  const analytics24h = joinObjects(JSON.stringify(day.window), day.analytics);
  return joinObjects(shown, `{"tvlFiat":${day.tvlFiat},"analytics24h":${analytics24h}}`);
}

function withPrices(
  record: string,
  [token0FiatPrice, token1FiatPrice]: readonly [number | null, number | null],
): string {
  const rest = record.slice(0, record.lastIndexOf(',"token0FiatPrice":'));
  return joinObjects(`${rest}}`, JSON.stringify({ token0FiatPrice, token1FiatPrice }));
}

/** The JSON object with the fields of both, of which neither is empty. */
function joinObjects(first: string, second: string): string {
  return `${first.slice(0, -1)},${second.slice(1)}`;
}
