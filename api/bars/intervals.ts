/** Seconds of each interval. */
export const INTERVALS = { '1m': 60, '5m': 300, '15m': 900, '1h': 3_600, '4h': 14_400, '1d': 86_400 } as const;
/** Most bars of a page. */
export const MAX_BARS = 1_000;
