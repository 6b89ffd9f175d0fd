/** Prices of a bar. */
export type Prices<Price> = Readonly<Record<'open' | 'high' | 'low' | 'close', Price>>;

/** The newest bars of a pool before a time. */
export interface BarRange {
  /** Seconds of a bar: a value of `INTERVALS`. */
  readonly secs: number;
  /** Unix seconds, exclusive. */
  readonly beforeTs: number;
  readonly limit: number;
}

/** Bars of a pool as the database has them. */
export interface FoundBars<Row> {
  /** Newest first. */
  readonly bars: readonly Row[];
  /** All bars that end by this time are final, Unix seconds. */
  readonly finalUntilTs: number;
}

/** Converts each price. */
export function mapPrices<From, To>({ open, high, low, close }: Prices<From>, to: (price: From) => To): Prices<To> {
  return { open: to(open), high: to(high), low: to(low), close: to(close) };
}
