import {
  CandlestickSeries,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ITimeScaleApi,
  LineSeries,
  type MouseEventHandler,
  type Time,
} from 'lightweight-charts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { colorOf, useScheme } from '../canvas-style.ts';
import { compactAmount, moment, NOTHING, priceText } from '../format.ts';
import {
  type Candle,
  candlesOf,
  closesOf,
  depthsOf,
  type History,
  type Point,
  SHOWN_BPS,
  volumesOf,
} from '../history.ts';

type ChartProps = {
  readonly history: History;
  /** Decimals of both tokens; when null, depth is not shown. */
  readonly decimals: readonly [number, number] | null;
  readonly names: readonly [string, string];
};

/** The values below the pointer. */
type Pointed = { readonly [K in keyof ReturnType<typeof addSeries>]?: Candle & Point };

/** Shows candles of executed prices, quoted bid and ask as lines, and below them volume and depth. */
export function CandleChart({ history, decimals, names }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const series = useRef<ReturnType<typeof addSeries> | null>(null);
  const scale = useRef<ITimeScaleApi<Time> | null>(null);
  const [pointed, point] = useState<Pointed>({});
  const isDark = useScheme();
  useEffect(() => {
    if (!box.current) return undefined;
    const chart = createChart(box.current, optionsOf(box.current));
    const added = addSeries(chart, box.current);
    series.current = added;
    scale.current = chart.timeScale();
    const onMove: MouseEventHandler<Time> = ({ seriesData }) =>
      point(Object.fromEntries(Object.entries(added).map(([name, each]) => [name, seriesData.get(each)])));
    chart.subscribeCrosshairMove(onMove);
    return () => {
      series.current = null;
      chart.remove();
    };
  }, [isDark]);
  useEffect(() => {
    const { bids, asks } = decimals ? depthsOf(history, decimals) : { bids: [], asks: [] };
    series.current?.trades.setData(candlesOf(history.trades));
    series.current?.bid.setData(closesOf(history.bids));
    series.current?.ask.setData(closesOf(history.asks));
    series.current?.volume.setData(decimals ? volumesOf(history.trades, decimals[1]) : []);
    series.current?.bids.setData(bids);
    series.current?.asks.setData(asks);
    // Where the reader has moved the chart to, it stays.
    const times = Object.values(series.current ?? {}).flatMap((each) => each.data().map(({ time }) => time));
    if (scale.current) showNewest(scale.current, new Set(times).size);
    scale.current = null;
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
  const { trades, bid, ask, volume, bids, asks } = pointed;
  const { time } = trades ?? bid ?? ask ?? bids ?? asks ?? {};
  if (time === undefined) {
    return (
      <span class="mute">
        Candles: prices of trades, fees included. Lines: bid and ask. Below, in <bdi>{names[1]}</bdi>: volume, and what
        can be sold and bought within {SHOWN_BPS} bps.
      </span>
    );
  }
  return (
    <>
      {moment(time)}: open <b>{priceText(trades?.open)}</b>, high <b>{priceText(trades?.high)}</b>, low{' '}
      <b>{priceText(trades?.low)}</b>, close <b>{priceText(trades?.close)}</b>, bid <b>{priceText(bid?.value)}</b>, ask{' '}
      <b>{priceText(ask?.value)}</b>, volume <b>{compactAmount(volume?.value)}</b>, depth{' '}
      <b>{bids ? compactAmount(bids.value) : NOTHING}</b> and <b>{asks ? compactAmount(asks.value) : NOTHING}</b>
    </>
  );
}

/** Adds the series. Trades and quotes have separate ones, since quotes move without trades. */
function addSeries(chart: IChartApi, box: Element) {
  const [up, down, mute] = [colorOf(box, '--good'), colorOf(box, '--bad'), colorOf(box, '--mute')];
  const candle = { upColor: up, wickUpColor: up, downColor: down, wickDownColor: down, borderVisible: false };
  const line = { lineWidth: 1, priceLineVisible: false, lastValueVisible: false } as const;
  const amount = { ...line, priceFormat: { type: 'custom', formatter: compactAmount } } as const;
  const added = {
    trades: chart.addSeries(CandlestickSeries, candle),
    bid: chart.addSeries(LineSeries, { ...line, color: up }),
    ask: chart.addSeries(LineSeries, { ...line, color: down }),
    volume: chart.addSeries(HistogramSeries, { ...amount, color: mute }, 1),
    bids: chart.addSeries(LineSeries, { ...amount, color: up }, 2),
    asks: chart.addSeries(LineSeries, { ...amount, color: down }, 2),
  };
  chart.panes()[0]?.setStretchFactor(4);
  return added;
}

/** Bars that are shown at first, and the room beside them that a label of the time axis needs, as a part of them. */
const SHOWN_BARS = 120;
const EDGE = 0.06;

/** @param bars their number */
function showNewest(scale: ITimeScaleApi<Time>, bars: number): void {
  const shown = Math.min(bars, SHOWN_BARS);
  const edge = 2 + shown * EDGE;
  scale.setVisibleLogicalRange({ from: bars - shown - edge, to: bars - 1 + edge });
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
