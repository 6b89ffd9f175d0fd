import { INTERVALS, MAX_BARS } from '../../api/bars/intervals.ts';
import { MAX_DAYS } from '../../api/history/days-declaration.ts';
import { MAX_LIMIT } from '../../api/trades/declaration.ts';
import { RESOLUTIONS } from '../../api/udf/messages.ts';
import { MARKET } from '../listing/market.ts';
import type { FigureOf } from '../verdicts.ts';
import { OLD_POOL } from './old-pool.ts';

/** An endpoint that is not answered from memory. */
interface Endpoint {
  readonly name: string;
  /** Each asks for as much as validation allows; which takes longest depends on the rows. */
  readonly paths: readonly string[];
  /** Most rows that it lists. */
  readonly most: string;
  /** Of the request alone, the median. */
  readonly target?: FigureOf<'history'>;
}

const [CHAIN] = MARKET.chainIds;
const at = `/public/v1/evm/${CHAIN}/${OLD_POOL}`;
const symbol = `symbol=${CHAIN}:${OLD_POOL}`;
const bars = (series: string) =>
  Object.keys(INTERVALS).map(
    (interval) => `${at}/ohlcv?interval=${interval}&series=${series}&currency=usd&includeEmpty=true&limit=${MAX_BARS}`,
  );

const eventsOf = (from: number, to: number) => `/adapters/dexscreener/${CHAIN}/events?fromBlock=${from}&toBlock=${to}`;

export const ENDPOINTS: readonly Endpoint[] = [
  { name: 'days', paths: [`${at}/days?limit=${MAX_DAYS}`], most: `${MAX_DAYS} days` },
  { name: 'udf symbols', paths: [`/public/v1/udf/symbols?${symbol}`], most: 'one symbol' },
  {
    name: 'udf history',
    paths: Object.keys(RESOLUTIONS).map(
      (resolution) =>
        `/public/v1/udf/history?${symbol}&resolution=${resolution}&from=0&to=4000000000&countback=${MAX_BARS}`,
    ),
    most: `${MAX_BARS} bars`,
  },
  { name: 'trades', paths: [`${at}/trades?limit=${MAX_LIMIT}`], most: `${MAX_LIMIT} trades` },
  {
    name: 'depth history',
    paths: ['1m', '1h'].map((interval) => `${at}/depth_history?interval=${interval}&limit=${MAX_BARS}`),
    most: `${MAX_BARS} samples`,
  },
  // A thousand blocks with a swap each of one pool; then blocks with a swap of each pool of the chain.
  {
    name: 'site events',
    paths: [eventsOf(905_000, 905_999)],
    most: '1,000 blocks',
    target: 'events of 1,000 blocks, ms',
  },
  { name: 'dense site events', paths: [eventsOf(1_000_001, 1_000_004)], most: '20,000 events' },
  { name: 'ohlcv', paths: [...bars('trade'), ...bars('mid')], most: `${MAX_BARS} bars` },
];
