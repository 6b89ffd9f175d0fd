import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { client } from '../api.ts';
import { useDeferred } from '../deferred.ts';
import type { History } from '../history.ts';
import { Notice, Skeleton } from '../parts/notice.tsx';
import { nameOf, type Token } from '../parts/token.tsx';
import { usePolled } from '../polling.ts';
import { FillQuality } from './fill-quality.tsx';

/** Lengths of a bar, each with the length of the depth samples that are shown next to it. */
const INTERVALS = { '5m': '1m', '1h': '1h', '1d': '1h' } as const;
const EVERY_MS = 30_000;
const SHOWN = 300;
/** Distance from the visible part of the page at which history is loaded. */
const MARGIN = '200px';

type Props = { readonly chainId: number; readonly pool: string; readonly tokens: readonly [Token, Token] };

/** Shows a pool's traded prices, and what trades got next to what was quoted. Loads them once it comes into view. */
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
  const [interval, choose] = useState<keyof typeof INTERVALS>('1h');
  const Chart = useDeferred(loadChart);
  const load = (signal: AbortSignal) => loadHistory(chainId, pool, interval, signal);
  const { data, failure } = usePolled(`${chainId}:${pool}:${interval}`, load, EVERY_MS);
  const [token0, token1] = tokens;
  const decimals = useMemo(
    () => (token0.decimals === null || token1.decimals === null ? null : ([token0.decimals, token1.decimals] as const)),
    [token0.decimals, token1.decimals],
  );
  const isEmpty = data && data.mids.length === 0 && data.trades.every(({ openX64 }) => openX64 === null);
  return (
    <>
      <fieldset class="choices">
        <legend class="offscreen">Length of a bar</legend>
        {keysOf(INTERVALS).map((each) => (
          <button key={each} type="button" aria-pressed={each === interval} onClick={() => choose(each)}>
            {each}
          </button>
        ))}
      </fieldset>
      {failure && <Notice tone="bad">{failure}</Notice>}
      {isEmpty && <Notice>There is no history yet.</Notice>}
      {data && !isEmpty && Chart && (
        <Chart history={data} decimals={decimals} names={[nameOf(token0), nameOf(token1)]} />
      )}
      {!(data && Chart) && <Skeleton lines={5} />}
      <FillQuality chainId={chainId} pool={pool} tokens={tokens} />
    </>
  );
}

const keysOf = <T extends object>(of: T) => Object.keys(of) as (keyof T)[];

async function loadHistory(
  chainId: number,
  poolAddress: string,
  interval: keyof typeof INTERVALS,
  signal: AbortSignal,
): Promise<History> {
  const page = { chainId, poolAddress, limit: SHOWN };
  const [trades, mids, depths] = await Promise.all([
    client.listBars({ ...page, interval }, { signal }),
    client.listBars({ ...page, interval, series: 'mid' }, { signal }),
    client.listDepth({ ...page, interval: INTERVALS[interval] }, { signal }),
  ]);
  return { trades: trades.data, mids: mids.data, depths: depths.data };
}

/** Whether the box was ever in view. */
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

const loadChart = async () => (await import('./candle-chart.tsx')).CandleChart;
