import {
  CandlestickSeries,
  type CandlestickSeriesPartialOptions,
  createChart,
  type ISeriesApi,
  type MouseEventHandler,
  type Time,
} from 'lightweight-charts';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TradeBar } from '../api.ts';
import { colorOf, useScheme } from '../canvas-style.ts';
import { moment, priceText } from '../format.ts';
import { type Candle, candlesOf } from '../history.ts';

export type ChartProps = { readonly bars: readonly TradeBar[] };

/** Candles of executed prices. */
export function CandleChart({ bars }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const series = useRef<ISeriesApi<'Candlestick'> | null>(null);
  const [pointed, point] = useState<Candle | null>(null);
  const isDark = useScheme();
  useEffect(() => {
    if (!box.current) return undefined;
    const chart = createChart(box.current, optionsOf(box.current));
    const candles = chart.addSeries(CandlestickSeries, candleOptions(box.current));
    series.current = candles;
    const onMove: MouseEventHandler<Time> = ({ seriesData }) =>
      point((seriesData.get(candles) as Candle | undefined) ?? null);
    chart.subscribeCrosshairMove(onMove);
    return () => {
      series.current = null;
      chart.remove();
    };
  }, [isDark]);
  useEffect(() => series.current?.setData(candlesOf(bars)), [bars, isDark]);
  return (
    <figure class="candles">
      <div ref={box} role="img" aria-label="Prices of trades; the list of trades below has the numbers" />
      <figcaption>
        <Readout candle={pointed} />{' '}
        <a class="mute" href="https://www.tradingview.com/">
          Charts by TradingView Lightweight Charts™
        </a>
      </figcaption>
    </figure>
  );
}

function Readout({ candle }: { readonly candle: Candle | null }) {
  if (!candle) return <span class="mute">Point at the chart: prices of the trades of an interval, fees included.</span>;
  return (
    <>
      {moment(candle.time)}: open <b>{priceText(candle.open)}</b>, high <b>{priceText(candle.high)}</b>, low{' '}
      <b>{priceText(candle.low)}</b>, close <b>{priceText(candle.close)}</b>
    </>
  );
}

const optionsOf = (box: Element) => ({
  // The style sheet gives the box its height.
  autoSize: true,
  // The library would place its logo by a style element, which the page's policy refuses: the caption has it.
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

function candleOptions(box: Element): CandlestickSeriesPartialOptions {
  const [up, down] = [colorOf(box, '--good'), colorOf(box, '--bad')];
  return {
    upColor: up,
    wickUpColor: up,
    downColor: down,
    wickDownColor: down,
    borderVisible: false,
  };
}
