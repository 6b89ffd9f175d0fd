import type { Quote } from '../api.ts';
import { useDeferred } from '../deferred.ts';
import { type DepthPoint, depthSides } from '../depth.ts';
import { priceText, share, tokenAmount } from '../format.ts';
import { ChartLoading } from '../parts/chart-loading.tsx';
import { Notice, Skeleton } from '../parts/notice.tsx';
import { nameOf, type Token } from '../parts/token.tsx';

/** Shows the depth chart and its numbers. The chart's code is loaded when there is something to chart. */
export function DepthPanel({
  quote,
  tokens,
}: {
  readonly quote: Quote | null;
  readonly tokens: readonly [Token, Token];
}) {
  // Until the chart is loaded, the numbers are shown alone.
  const { Component: Chart, isFailed = false } = useDeferred(loadChart);
  const [token0, token1] = tokens;
  if (token0.decimals === null || token1.decimals === null) {
    return <Notice>A token does not report its decimals: amounts cannot be shown in whole tokens.</Notice>;
  }
  if (quote === null) return <Skeleton lines={5} />;
  const sides = depthSides(quote, [token0.decimals, token1.decimals]);
  if (sides.bids.length + sides.asks.length === 0) return <Notice>Nothing can be traded now.</Notice>;
  const names = [nameOf(token0), nameOf(token1)] as const;
  return (
    <>
      {Chart ? <Chart sides={sides} names={names} /> : <ChartLoading isFailed={isFailed} lines={5} />}
      <details>
        <summary>Levels in numbers</summary>
        <div class="levels">
          <Levels title="Sell" points={sides.bids} names={names} />
          <Levels title="Buy" points={sides.asks} names={names} />
        </div>
      </details>
    </>
  );
}

const loadChart = async () => (await import('./depth-chart.tsx')).DepthChart;

type LevelsProps = {
  readonly title: string;
  readonly points: readonly DepthPoint[];
  readonly names: readonly [string, string];
};

function Levels({ title, points, names: [name0, name1] }: LevelsProps) {
  return (
    <table>
      <caption>
        {title} <bdi>{name0}</bdi>
      </caption>
      <thead>
        <tr>
          <th scope="col" class="figure">
            Up to price
          </th>
          <th scope="col" class="figure">
            <bdi>{name0}</bdi>
          </th>
          <th scope="col" class="figure">
            <bdi>{name1}</bdi>
          </th>
          <th scope="col" class="figure">
            Impact
          </th>
        </tr>
      </thead>
      <tbody>
        {points.slice(1).map(({ price, volume0, volume1, impact }) => (
          <tr key={price}>
            <td class="figure">{priceText(price)}</td>
            <td class="figure">{tokenAmount(volume0)}</td>
            <td class="figure">{tokenAmount(volume1)}</td>
            <td class="figure">{share(impact, 1)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
