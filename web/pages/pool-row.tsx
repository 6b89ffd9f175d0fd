import { useEffect, useRef, useState } from 'preact/hooks';
import type { Pool, PoolTrend } from '../api.ts';
import { chainNamed } from '../chains.ts';
import { favourites, toggleFavourite } from '../favourites.ts';
import type { LiveQuote } from '../followed-chain.ts';
import { bps, changeText, NOTHING, percentOfBps, priceExact, priceText, usdFull, usdShort } from '../format.ts';
import { followQuote } from '../live.ts';
import { here } from '../location.ts';
import { AgeBadge, freshness, now, PRICE_LIMITS } from '../parts/age.tsx';
import { Reasons, StatusChip, TierChip } from '../parts/chips.tsx';
import { LiveDot } from '../parts/live-dot.tsx';
import { PairName } from '../parts/token.tsx';
import { priceOfX64, spreadBps } from '../quantities.ts';
import { keyOf, sparkPoints } from '../trends.ts';

/** A row of the list, whose prices are live while it is in sight. */
export function PoolRow({ pool, trend }: { readonly pool: Pool; readonly trend: PoolTrend | undefined }) {
  const row = useRef<HTMLTableRowElement>(null);
  const chainId = chainNamed(pool.chain)?.chainId;
  const { quote, failure } = useLiveQuote(row, chainId, pool.poolAddress);
  const { tierQualification, reasonCodes } = pool.classificationSummary;
  const depth = pool.trend24h?.depthFiat;
  const aprs = `24 hours ${percentOfBps(pool.analytics24h?.aprBps)}, 7 days ${percentOfBps(pool.aprBps7d)}`;
  return (
    <tr ref={row} data-pool={pool.poolAddress}>
      <th scope="row">
        <a href={chainId === undefined ? here.value.href : `/pool/${chainId}/${pool.poolAddress}`}>
          <PairName pool={pool} />
        </a>
        <span class="sub">
          <Star pool={pool} />
          <bdi>{pool.chain}</bdi>
          <TierChip tier={tierQualification} />
          <StatusChip status={quote?.priceProviderStatus ?? pool.priceProviderStatus} />
          <LiveDot quote={failure === null ? quote : null} />
          <Reasons codes={reasonCodes} />
        </span>
      </th>
      <Prices quote={quote} failure={failure} />
      <Trend change={pool.trend24h?.changeE6 ?? null} trend={trend} />
      <td class="figure wide" title={usdFull(depth)}>
        {usdShort(depth)}
      </td>
      <td class="figure" title={usdFull(pool.tvlFiat)}>
        {usdShort(pool.tvlFiat)}
      </td>
      <td class="figure wide" title={usdFull(pool.analytics24h?.volumeFiat)}>
        {usdShort(pool.analytics24h?.volumeFiat)}
      </td>
      <td class="figure widest" title={aprs}>
        {percentOfBps(pool.analytics24h?.aprBps)}
        <span class="under">{percentOfBps(pool.aprBps7d)}</span>
      </td>
    </tr>
  );
}

/** Marks a pool as a favourite. */
function Star({ pool }: { readonly pool: Pool }) {
  const isOn = favourites.value.has(keyOf(pool));
  const toggle = () => toggleFavourite(keyOf(pool));
  return (
    <button type="button" class="star" aria-pressed={isOn} aria-label={`Favourite: ${pool.pair}`} onClick={toggle}>
      {isOn ? '★' : '☆'}
    </button>
  );
}

/** A line of the prices of 24 hours, and how far the last is from the first. */
function Trend({ change, trend }: { readonly change: number | null; readonly trend: PoolTrend | undefined }) {
  if (change === null) return <td class="figure trend">{NOTHING}</td>;
  const tone = change < 0 ? 'bad' : 'good';
  return (
    <td class={`figure trend tone ${tone}`} title="From the first price of 24 hours to the last one">
      <svg width="86" height="24" viewBox="-1 -1 86 24" aria-hidden="true">
        {trend && <polyline points={sparkPoints(trend, 84, 22)} />}
      </svg>
      <span class="under">{changeText(change)}</span>
    </td>
  );
}

/** Bid, ask, spread and their age. A price that is too old stays visible, but crossed out. */
function Prices({ quote, failure }: LiveQuote) {
  const bid = quote && priceOfX64(quote.bidAdj);
  const ask = quote && priceOfX64(quote.askAdj);
  const old = quote ? freshness(now.value - quote.serverTs, PRICE_LIMITS) : 'fresh';
  return (
    <>
      <td class={`figure price ${old}`}>
        <Price value={bid} isKnown={quote !== null} />
        <Price value={ask} isKnown={quote !== null} />
      </td>
      <td class={`figure price widest ${old}`}>{bps(spreadBps(bid, ask))}</td>
      <td class="figure wide" title={failure ?? undefined}>
        {quote ? <AgeBadge at={quote.serverTs} limits={PRICE_LIMITS} /> : failure ? 'not read' : NOTHING}
      </td>
    </>
  );
}

const Price = ({ value, isKnown }: { readonly value: number | null; readonly isKnown: boolean }) => (
  <span class="side" title={priceExact(value)}>
    {value === null && isKnown ? 'closed' : priceText(value)}
  </span>
);

const NOTHING_YET: LiveQuote = { quote: null, failure: null };

function useLiveQuote(row: { readonly current: Element | null }, chainId: number | undefined, pool: string): LiveQuote {
  const [live, setLive] = useState(NOTHING_YET);
  useEffect(() => {
    if (chainId === undefined || row.current === null) return undefined;
    let stop: (() => void) | undefined;
    const begin = () => {
      const followed = followQuote(chainId, pool);
      const forget = followed.live.subscribe(setLive);
      stop = () => {
        forget();
        followed.stop();
      };
    };
    const observer = new IntersectionObserver((entries) => {
      const isInSight = entries.at(-1)?.isIntersecting ?? false;
      if (isInSight && !stop) begin();
      if (isInSight || !stop) return;
      stop();
      stop = undefined;
    });
    observer.observe(row.current);
    return () => {
      observer.disconnect();
      stop?.();
    };
  }, [chainId, pool]);
  return live;
}
