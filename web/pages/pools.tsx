import type { ComponentChildren } from 'preact';
import { client, type Pool } from '../api.ts';
import { curlOf } from '../curl.ts';
import { count } from '../format.ts';
import { FIGURES } from '../glossary-terms.ts';
import { here } from '../location.ts';
import { AgeBadge, LISTING_LIMITS } from '../parts/age.tsx';
import { CurlBox } from '../parts/copy.tsx';
import { Notice } from '../parts/notice.tsx';
import { usePolled } from '../polling.ts';
import { Filters } from './filters.tsx';
import { PoolRow } from './pool-row.tsx';
import { hrefOf, listingPath, listingQuery, PAGE_SIZE, type PoolsView, viewOf } from './pools-query.ts';

const EVERY_MS = 10_000;
const SKELETON_ROWS = 8;

/** The list of pools of one chain or all. */
export function PoolsPage() {
  const view = viewOf(here.value.searchParams);
  const { data, failure } = usePolled(hrefOf(view), () => load(view), EVERY_MS);
  const generatedAt = data?.data[0]?.analytics24h?.generatedAtTs ?? null;
  return (
    <>
      <div class="title">
        <h1>Pools</h1>
        {data && <span class="mute">{count(data.total)} found</span>}
        {generatedAt !== null && <AgeBadge at={generatedAt} limits={LISTING_LIMITS} of="listing" />}
      </div>
      <Filters view={view} />
      {failure && <Notice tone="bad">{failure}</Notice>}
      <PoolTable isLoading={data === null && failure === null}>
        {data?.data.map((pool) => (
          <PoolRow key={`${pool.chain}:${pool.poolAddress}`} pool={pool} />
        ))}
      </PoolTable>
      {data?.data.length === 0 && (
        <Notice>
          {data.total > 0
            ? 'There is no such page of the list.'
            : 'No pool matches. Pools below $10 are hidden unless asked for.'}
        </Notice>
      )}
      {data && <Pager view={view} shown={data.data} total={data.total} next={data.nextOffset} />}
      <h2>The same from a terminal</h2>
      <CurlBox line={curlOf(location.origin, listingPath(view))} />
    </>
  );
}

function load(view: PoolsView) {
  const query = listingQuery(view);
  if (view.chain === null) {
    const sortBy = query.sortBy === 'created' ? 'tiered' : query.sortBy;
    return client.listPoolsAcrossChains({ ...query, sortBy });
  }
  return client.listPools({ ...query, chainId: view.chain });
}

const HEADINGS = [
  ['bid', 'Bid / ask', ''],
  ['spread', 'Spread', 'wide'],
  ['age', 'Age', ''],
  ['tvl', 'TVL', ''],
  ['volume', 'Volume 24 h', 'wide'],
  ['apr', 'APR 24 h / 7 d', 'wide'],
] as const;

function PoolTable({ isLoading, children }: { readonly isLoading: boolean; readonly children: ComponentChildren }) {
  return (
    <table class="pools" aria-busy={isLoading}>
      <caption class="offscreen">Pools with live prices</caption>
      <thead>
        <tr>
          <th scope="col">Pool</th>
          {HEADINGS.map(([term, label, width]) => (
            <th key={term} scope="col" class={`figure ${width}`} title={FIGURES[term].meaning}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {isLoading
          ? Array.from({ length: SKELETON_ROWS }, (_, row) => (
              <tr key={row} class="skeleton">
                <td colSpan={HEADINGS.length + 1}>
                  <span />
                </td>
              </tr>
            ))
          : children}
      </tbody>
    </table>
  );
}

type PagerProps = {
  readonly view: PoolsView;
  readonly shown: readonly Pool[];
  readonly total: number;
  readonly next: number | null;
};

function Pager({ view, shown, total, next }: PagerProps) {
  const previous = Math.max(0, view.offset - PAGE_SIZE);
  return (
    <nav class="pager" aria-label="Pages of the list">
      {view.offset > 0 ? <a href={hrefOf({ ...view, offset: previous })}>← Previous</a> : <span />}
      {shown.length > 0 && (
        <span class="mute">
          {count(view.offset + 1)} to {count(view.offset + shown.length)} of {count(total)}
        </span>
      )}
      {next !== null ? <a href={hrefOf({ ...view, offset: next })}>Next →</a> : <span />}
    </nav>
  );
}
