import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { colorOf, useScheme } from '../canvas-style.ts';
import type { DepthPoint, DepthSides } from '../depth.ts';
import { compactAmount, priceText, share, tokenAmount } from '../format.ts';

const HEIGHT = 260;
const AXIS_WIDTH = 64;

type Props = { readonly sides: DepthSides; readonly names: readonly [string, string] };
type Hovered = DepthPoint & { readonly side: 'Sell' | 'Buy' };

/** Shows how much can be sold and bought up to each price, on both sides, with steps at the edges of bins. */
export function DepthChart({ sides, names }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const shown = useRef(sides);
  const [hovered, hover] = useState<Hovered | null>(null);
  const scheme = useScheme();
  shown.current = sides;
  useEffect(() => {
    if (!box.current) return undefined;
    const onHover = (index: number | null) => hover(index === null ? null : (pointsOf(shown.current)[index] ?? null));
    const plot = new uPlot(optionsOf(box.current, onHover), dataOf(shown.current), box.current);
    chart.current = plot;
    const observer = new ResizeObserver(() => plot.setSize({ width: widthOf(box.current), height: HEIGHT }));
    observer.observe(box.current);
    return () => {
      observer.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [scheme]);
  useEffect(() => chart.current?.setData(dataOf(sides)), [sides]);
  return (
    <figure class="depth">
      <div ref={box} role="img" aria-label={`Depth of ${names.join(' and ')}; the table below has the numbers`} />
      <figcaption>
        <Readout hovered={hovered} names={names} />
      </figcaption>
    </figure>
  );
}

type ReadoutProps = { readonly hovered: Hovered | null; readonly names: Props['names'] };

function Readout({ hovered, names: [name0, name1] }: ReadoutProps) {
  if (!hovered)
    return <span class="mute">Point at the chart: price, volume and impact of what is below the pointer.</span>;
  const { side, price, volume0, volume1, impact } = hovered;
  return (
    <>
      {side} up to price <b>{priceText(price)}</b>: <b>{tokenAmount(volume0)}</b> <bdi>{name0}</bdi> for{' '}
      <b>{tokenAmount(volume1)}</b> <bdi>{name1}</bdi>, impact <b>{share(impact, 1)}</b>
    </>
  );
}

/** Lists the points of both sides by price, lowest first. */
function pointsOf({ bids, asks }: DepthSides): Hovered[] {
  const sold = bids.map((point) => ({ ...point, side: 'Sell' as const })).reverse();
  return [...sold, ...asks.map((point) => ({ ...point, side: 'Buy' as const }))];
}

function dataOf(sides: DepthSides): uPlot.AlignedData {
  const points = pointsOf(sides);
  const volumes = (side: Hovered['side']) => points.map((point) => (point.side === side ? point.volume0 : null));
  return [points.map(({ price }) => price), volumes('Sell'), volumes('Buy')];
}

const widthOf = (box: Element | null): number => Math.max(200, box?.clientWidth ?? 0);

function optionsOf(box: Element, onHover: (index: number | null) => void): uPlot.Options {
  const color = (name: string) => colorOf(box, name);
  const axis = { stroke: color('--mute'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
  const stepped = uPlot.paths.stepped;
  const sideOf = (name: string, tone: string, align: 1 | -1): uPlot.Series => ({
    label: name,
    stroke: color(tone),
    fill: color(`${tone}-fill`),
    width: 2,
    points: { show: false },
    ...(stepped && { paths: stepped({ align }) }),
  });
  return {
    width: widthOf(box),
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false },
    scales: { x: { time: false }, y: { range: (_plot, _least, most) => [0, most * 1.05 || 1] } },
    axes: [
      { ...axis, values: (_plot, prices) => prices.map((price) => priceText(price)) },
      { ...axis, size: AXIS_WIDTH, values: (_plot, volumes) => volumes.map((volume) => compactAmount(volume)) },
    ],
    // The amount at a price holds below this price for sales, and above it for purchases.
    series: [{}, sideOf('Sell', '--good', -1), sideOf('Buy', '--bad', 1)],
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
  };
}
