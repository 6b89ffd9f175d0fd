import type { ComponentType, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { client, type TradeBar } from '../api.ts';
import { Notice, Skeleton } from '../parts/notice.tsx';
import type { Token } from '../parts/token.tsx';
import { usePolled } from '../polling.ts';
import type { ChartProps } from './candle-chart.tsx';
import { FillQuality } from './fill-quality.tsx';

const INTERVALS = ['5m', '1h', '1d'] as const;
const EVERY_MS = 30_000;
const SHOWN = 300;
/** It is asked for when it is about to be seen. */
const MARGIN = '200px';

type Props = { readonly chainId: number; readonly pool: string; readonly tokens: readonly [Token, Token] };

/** What a pool traded at, and what trades got beside what was quoted: loaded once it comes into view. */
export function HistoryPanel(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const isInView = useInView(box);
  return (
    <div ref={box} class="history">
      {isInView ? <Shown {...props} /> : <Skeleton lines={5} />}
    </div>
  );
}

function Shown({ chainId, pool, tokens }: Props) {
  const [interval, choose] = useState<(typeof INTERVALS)[number]>('1h');
  const Chart = useChart();
  const load = (signal: AbortSignal) =>
    client.listBars({ chainId, poolAddress: pool, interval, limit: SHOWN }, { signal });
  const { data, failure } = usePolled(`${chainId}:${pool}:${interval}`, load, EVERY_MS);
  return (
    <>
      <fieldset class="choices">
        <legend class="offscreen">Length of a bar</legend>
        {INTERVALS.map((each) => (
          <button key={each} type="button" aria-pressed={each === interval} onClick={() => choose(each)}>
            {each}
          </button>
        ))}
      </fieldset>
      {failure && <Notice tone="bad">{failure}</Notice>}
      {data && Chart ? <Bars Chart={Chart} bars={data.data} /> : <Skeleton lines={5} />}
      <FillQuality chainId={chainId} pool={pool} tokens={tokens} />
    </>
  );
}

type BarsProps = { readonly Chart: ComponentType<ChartProps>; readonly bars: readonly TradeBar[] };

const Bars = ({ Chart, bars }: BarsProps) =>
  bars.some(({ openX64 }) => openX64 !== null) ? <Chart bars={bars} /> : <Notice>No trade has a price yet.</Notice>;

/** Whether it was ever in view. */
function useInView(box: RefObject<Element | null>): boolean {
  const [isInView, show] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) show(true);
      },
      { rootMargin: MARGIN },
    );
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [box]);
  return isInView;
}

function useChart(): ComponentType<ChartProps> | null {
  const [Chart, show] = useState<ComponentType<ChartProps> | null>(null);
  useEffect(() => {
    import('./candle-chart.tsx').then(
      ({ CandleChart }) => show(() => CandleChart),
      () => undefined,
    );
  }, []);
  return Chart;
}
