import {
  CandlestickSeries,
  createChart,
  type IChartApi,
  LineSeries,
  type MouseEventHandler,
  type Time,
} from 'lightweight-charts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { colorOf, useScheme } from '../canvas-style.ts';
import { compactAmount, moment, NOTHING, priceText } from '../format.ts';
import { type Candle, candlesOf, closesOf, depthsOf, type History, type Point, SHOWN_BPS } from '../history.ts';

type ChartProps = {
  readonly history: History;
  /** Decimals of both tokens; when null, depth is not shown. */
  readonly decimals: readonly [number, number] | null;
  readonly names: readonly [string, string];
};

/** The values below the pointer. */
type Pointed = { readonly [K in keyof ReturnType<typeof addSeries>]?: Candle & Point };

/** Shows candles of executed prices, the middle of quoted prices as a separate line, and depth below them. */
export function CandleChart({ history, decimals, names }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const series = useRef<ReturnType<typeof addSeries> | null>(null);
  const [pointed, point] = useState<Pointed>({});
  const isDark = useScheme();
  useEffect(() => {
    if (!box.current) return undefined;
    const chart = createChart(box.current, optionsOf(box.current));
    const added = addSeries(chart, box.current);
    series.current = added;
    const onMove: MouseEventHandler<Time> = ({ seriesData }) =>
      point(Object.fromEntries(Object.entries(added).map(([name, each]) => [name, seriesData.get(each)])));
    chart.subscribeCrosshairMove(onMove);
    return () => {
      series.current = null;
      chart.remove();
    };
  }, [isDark]);
  useEffect(() => {
    const { bids, asks } = decimals ? depthsOf(history.depths, decimals) : { bids: [], asks: [] };
    series.current?.trades.setData(candlesOf(history.trades));
    series.current?.mid.setData(closesOf(history.mids));
    series.current?.bids.setData(bids);
    series.current?.asks.setData(asks);
  }, [history, decimals, isDark]);
  return (
    <figure class="candles">
      <div ref={box} role="img" aria-label="Prices of trades, quotes and depth; the tables below have the numbers" />
      <figcaption>
        <Readout pointed={pointed} names={names} />{' '}
        <a class="mute" href="https://www.tradingview.com/">
          Charts by TradingView Lightweight Charts™
        </a>
      </figcaption>
    </figure>
  );
}

function Readout({ pointed, names }: { readonly pointed: Pointed; readonly names: ChartProps['names'] }) {
  const { trades, mid, bids, asks } = pointed;
  const { time } = trades ?? mid ?? bids ?? asks ?? {};
  if (time === undefined) {
    return (
      <span class="mute">
        Candles: prices of trades, fees included. Line: middle of bid and ask. Below: what can be sold and bought within{' '}
        {SHOWN_BPS} bps of it, in <bdi>{names[1]}</bdi>.
      </span>
    );
  }
  return (
    <>
      {moment(time)}: open <b>{priceText(trades?.open)}</b>, high <b>{priceText(trades?.high)}</b>, low{' '}
      <b>{priceText(trades?.low)}</b>, close <b>{priceText(trades?.close)}</b>, mid <b>{priceText(mid?.value)}</b>,
      depth <b>{bids ? compactAmount(bids.value) : NOTHING}</b> and <b>{asks ? compactAmount(asks.value) : NOTHING}</b>
    </>
  );
}

/** Adds the series. Trades and quotes have separate ones, since quotes move without trades. */
function addSeries(chart: IChartApi, box: Element) {
  const [up, down, link] = [colorOf(box, '--good'), colorOf(box, '--bad'), colorOf(box, '--link')];
  const candle = { upColor: up, wickUpColor: up, downColor: down, wickDownColor: down, borderVisible: false };
  const line = { lineWidth: 1, priceLineVisible: false, lastValueVisible: false } as const;
  const volume = { ...line, priceFormat: { type: 'custom', formatter: compactAmount } } as const;
  const added = {
    trades: chart.addSeries(CandlestickSeries, candle),
    mid: chart.addSeries(LineSeries, { ...line, color: link }),
    bids: chart.addSeries(LineSeries, { ...volume, color: up }, 1),
    asks: chart.addSeries(LineSeries, { ...volume, color: down }, 1),
  };
  chart.panes()[0]?.setStretchFactor(3);
  return added;
}

const optionsOf = (box: Element) => ({
  // The style sheet gives the box its height.
  autoSize: true,
  // The caption names the library: the page's policy rejects the style element by which the library places its logo.
  layout: {
    attributionLogo: false,
    background: { color: 'transparent' },
    textColor: colorOf(box, '--mute'),
    panes: { separatorColor: colorOf(box, '--line') },
  },
  grid: { vertLines: { color: colorOf(box, '--line') }, horzLines: { color: colorOf(box, '--line') } },
  localization: { priceFormatter: priceText },
  timeScale: { timeVisible: true, borderColor: colorOf(box, '--line') },
  rightPriceScale: { borderColor: colorOf(box, '--line') },
});
