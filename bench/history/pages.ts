import { MARKET } from '../listing/market.ts';

/** One of many like it. */
export const POOL = `0x${(1_000_001).toString(16).padStart(40, '0')}` as const;

const [CHAIN] = MARKET.chainIds;
const at = `/public/v1/evm/${CHAIN}/${POOL}`;
const udf = (resolution: number, countback: number) =>
  `/public/v1/udf/history?symbol=${CHAIN}:${POOL}&resolution=${resolution}&from=0&to=4000000000&countback=${countback}`;

/** Pages that hold as many rows with a fifth of the swaps as with all of them. */
export const PAGES = [
  { name: 'ohlcv 1m', path: `${at}/ohlcv?interval=1m`, rows: 100 },
  { name: 'ohlcv 15m', path: `${at}/ohlcv?interval=15m&limit=50`, rows: 50 },
  { name: 'ohlcv 1h', path: `${at}/ohlcv?interval=1h&limit=24`, rows: 24 },
  { name: 'ohlcv 4h, empty too', path: `${at}/ohlcv?interval=4h&limit=8&includeEmpty=true`, rows: 8 },
  { name: 'ohlcv 1d', path: `${at}/ohlcv?interval=1d&limit=1`, rows: 1 },
  { name: 'udf 1', path: udf(1, 100), rows: 100 },
  { name: 'udf 60', path: udf(60, 24), rows: 24 },
  { name: 'days', path: `${at}/days?limit=1`, rows: 1 },
];
