import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { client, type Pool, type Quote } from '../api.ts';
import { curlOf } from '../curl.ts';
import type { LiveQuote } from '../followed-chain.ts';
import { bps, priceExact, priceText } from '../format.ts';
import { FIGURES } from '../glossary-terms.ts';
import { followDepth } from '../live.ts';
import { here } from '../location.ts';
import { AgeBadge, freshness, LISTING_LIMITS, now, PRICE_LIMITS } from '../parts/age.tsx';
import { Reasons, StatusChip, TierChip } from '../parts/chips.tsx';
import { CurlBox } from '../parts/copy.tsx';
import { LiveDot } from '../parts/live-dot.tsx';
import { Notice, Skeleton } from '../parts/notice.tsx';
import { PairName, tokensOf } from '../parts/token.tsx';
import { usePolled } from '../polling.ts';
import { priceOfX64, spreadBps } from '../quantities.ts';
import { DepthPanel } from './depth-panel.tsx';
import { FillQuality } from './fill-quality.tsx';
import { HistoryPanel } from './history-panel.tsx';
import { LivePrice } from './live-price.tsx';
import { DayFigures, Guards, PoolDetails } from './pool-details.tsx';
import { TradeBox } from './trade-box.tsx';
import { Trades } from './trades.tsx';

const EVERY_MS = 10_000;

/** One pool: live price and depth, figures, what guards it, trades. */
export function PoolPage() {
  const [, , chain = '', address = ''] = here.value.pathname.split('/');
  const [chainId, pool] = [Number(chain), address.toLowerCase()];
  const load = (signal: AbortSignal) => client.listPools({ chainId, addresses: pool, include24h: true }, { signal });
  const { data, failure } = usePolled(`${chainId}:${pool}`, load, EVERY_MS);
  if (data?.data[0]) return <Shown pool={data.data[0]} chainId={chainId} failure={failure} />;
  if (failure) return <Notice tone="bad">{failure}</Notice>;
  if (!data) return <Skeleton lines={12} />;
  return (
    <>
      <h1>This pool is not listed</h1>
      <p>It may be new, delisted, or on another chain.</p>
    </>
  );
}

type ShownProps = { readonly pool: Pool; readonly chainId: number; readonly failure: string | null };

function Shown({ pool, chainId, failure }: ShownProps) {
  const live = useDepth(chainId, pool.poolAddress);
  // What the service has withdrawn is of no block that is being built.
  const current = live.failure === null ? live.quote : null;
  const tokens = tokensOf(pool);
  const path = `/public/v1/evm/${chainId}/${pool.poolAddress}/bid_ask`;
  const generatedAt = pool.analytics24h?.generatedAtTs ?? null;
  return (
    <>
      <div class="title">
        <h1>
          <PairName pool={pool} />
        </h1>
        <span class="sub">
          <bdi>{pool.chain}</bdi>
          <TierChip tier={pool.classificationSummary.tierQualification} />
          <StatusChip status={live.quote?.priceProviderStatus ?? pool.priceProviderStatus} />
          <LiveDot quote={current} />
        </span>
      </div>
      <Reasons codes={pool.classificationSummary.reasonCodes} />
      {failure && <Notice tone="bad">{failure}</Notice>}
      {live.failure && <Notice tone="bad">Price: {live.failure}</Notice>}
      <div class="board">
        <section class="chart" aria-label="History">
          <HistoryPanel chainId={chainId} pool={pool.poolAddress} tokens={tokens} />
        </section>
        <div class="aside">
          <Prices quote={live.quote} />
          <LivePrice quote={current} chainId={chainId} pool={pool.poolAddress} />
          <Section id="trade" title="Trade here">
            <TradeBox chainId={chainId} quote={live.quote} isWithdrawn={live.failure !== null} tokens={tokens} />
          </Section>
          <Section id="depth" title="Depth">
            <DepthPanel quote={live.quote} tokens={tokens} />
            <CurlBox line={curlOf(location.origin, path)} />
          </Section>
          <Section id="day" title={['24 hours ', <AgeBadge key="age" at={generatedAt} limits={LISTING_LIMITS} />]}>
            <DayFigures pool={pool} />
          </Section>
          <Section id="guards" title="Price and guards">
            <Guards pool={pool} chainId={chainId} />
          </Section>
          <Section id="facts" title="Facts">
            <PoolDetails pool={pool} chainId={chainId} />
          </Section>
        </div>
        <div class="dealings">
          <Section id="trades" title="Last trades">
            <Trades chainId={chainId} pool={pool.poolAddress} tokens={tokens} />
          </Section>
          <FillQuality chainId={chainId} pool={pool.poolAddress} tokens={tokens} />
        </div>
      </div>
    </>
  );
}

type SectionProps = {
  readonly id: string;
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
};

const Section = ({ id, title, children }: SectionProps) => (
  <section aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

const NOTHING_YET: LiveQuote = { quote: null, failure: null };

function useDepth(chainId: number, pool: string): LiveQuote {
  const [live, setLive] = useState(NOTHING_YET);
  useEffect(() => followDepth(chainId, pool, setLive), [chainId, pool]);
  return live;
}

function Prices({ quote }: { readonly quote: Quote | null }) {
  const bid = quote && priceOfX64(quote.bidAdj);
  const ask = quote && priceOfX64(quote.askAdj);
  const old = quote ? freshness(now.value - quote.serverTs, PRICE_LIMITS) : 'fresh';
  return (
    <dl class={`prices price ${old}`}>
      <Figure term="bid" text={closedOr(quote, bid)} title={priceExact(bid)} tone="good" />
      <Figure term="ask" text={closedOr(quote, ask)} title={priceExact(ask)} tone="bad" />
      <Figure term="spread" text={bps(spreadBps(bid, ask))} title={FIGURES.spread.meaning} tone="" />
      <div>
        <dt>Age</dt>
        <dd>
          <AgeBadge at={quote?.serverTs ?? null} limits={PRICE_LIMITS} />
        </dd>
      </div>
    </dl>
  );
}

const closedOr = (quote: Quote | null, price: number | null) => (quote && price === null ? 'closed' : priceText(price));

type FigureProps = {
  readonly term: keyof typeof FIGURES;
  readonly text: string;
  readonly title: string;
  readonly tone: string;
};

const Figure = ({ term, text, title, tone }: FigureProps) => (
  <div>
    <dt title={FIGURES[term].meaning}>{FIGURES[term].label}</dt>
    <dd class={`tone ${tone}`} title={title} data-figure={term}>
      {text}
    </dd>
  </div>
);
