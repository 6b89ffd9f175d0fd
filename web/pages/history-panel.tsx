import { useMemo, useRef, useState } from 'preact/hooks';
import { useDeferred } from '../deferred.ts';
import { INTERVALS, type Interval, loadHistory, usualInterval } from '../load-history.ts';
import { ChartLoading } from '../parts/chart-loading.tsx';
import { Notice } from '../parts/notice.tsx';
import { nameOf, type Token } from '../parts/token.tsx';
import { usePolled } from '../polling.ts';

const EVERY_MS = 30_000;

type Props = { readonly chainId: number; readonly pool: string; readonly tokens: readonly [Token, Token] };

/** Shows a pool's traded and quoted prices, volume and depth over time. */
export function HistoryPanel({ chainId, pool, tokens }: Props) {
  const [chosen, choose] = useState<Interval | null>(null);
  // What was found to suit stays, whatever is traded later.
  const usual = useRef<Interval | null>(null);
  const { Component: Chart, isFailed = false } = useDeferred(loadChart);
  const place = { chainId, poolAddress: pool };
  const load = async (signal: AbortSignal) => {
    usual.current ??= await usualInterval(place, signal);
    const interval = chosen ?? usual.current;
    return { interval, history: await loadHistory(place, interval, signal) };
  };
  const { data, failure } = usePolled(`${chainId}:${pool}:${chosen}`, load, EVERY_MS);
  const [token0, token1] = tokens;
  const decimals = useMemo(
    () => (token0.decimals === null || token1.decimals === null ? null : ([token0.decimals, token1.decimals] as const)),
    [token0.decimals, token1.decimals],
  );
  const { bids = [], trades = [] } = data?.history ?? {};
  const isEmpty = data !== null && bids.length === 0 && trades.every(({ openX64 }) => openX64 === null);
  return (
    <div class="history">
      <fieldset class="choices">
        <legend class="offscreen">Length of a bar</legend>
        {keysOf(INTERVALS).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === (chosen ?? data?.interval)}
            onClick={() => choose(each)}
          >
            {each}
          </button>
        ))}
      </fieldset>
      {failure && <Notice tone="bad">{failure}</Notice>}
      {isEmpty && <Notice>There is no history yet.</Notice>}
      {data && !isEmpty && Chart && (
        <Chart
          key={data.interval}
          history={data.history}
          decimals={decimals}
          names={[nameOf(token0), nameOf(token1)]}
        />
      )}
      {!(data && Chart) && <ChartLoading isFailed={isFailed} lines={12} />}
    </div>
  );
}

const keysOf = <T extends object>(of: T) => Object.keys(of) as (keyof T)[];

const loadChart = async () => (await import('./candle-chart.tsx')).CandleChart;
