import { client, type Pool, type PoolSums } from '../api.ts';
import { curlOf } from '../curl.ts';
import { useDeferred } from '../deferred.ts';
import { favourites } from '../favourites.ts';
import { count, usdFull, usdShort } from '../format.ts';
import { FIGURES } from '../glossary-terms.ts';
import { here } from '../location.ts';
import { AgeBadge, LISTING_LIMITS } from '../parts/age.tsx';
import { CurlBox } from '../parts/copy.tsx';
import { Notice } from '../parts/notice.tsx';
import { usePolled } from '../polling.ts';
import { keyOf, type Trends, useTrends } from '../trends.ts';
import { ChainStrip } from './chain-strip.tsx';
import { Filters } from './filters.tsx';
import { PoolRow } from './pool-row.tsx';
import { hrefOf, listingPath, listingQuery, PAGE_SIZE, type PoolsView, type Sort, viewOf } from './pools-query.ts';

const EVERY_MS = 10_000;
const SKELETON_ROWS = 8;

/** The list of pools of one chain or all. */
export function PoolsPage() {
  const view = viewOf(here.value.searchParams);
  const starred = view.starred ? [...favourites.value] : [];
  const key = view.starred && starred.length === 0 ? null : `${hrefOf(view)} ${starred}`;
  const { data, failure } = usePolled(key, () => load(view, starred), EVERY_MS);
  // Chains may have pools of one address.
  const found = data?.data.filter((pool) => !view.starred || favourites.value.has(keyOf(pool))) ?? [];
  const trends = useTrends(found);
  // No first row waits for their code.
  const { Component: Keys } = useDeferred(loadKeys, trends !== null || data?.data.length === 0);
  const generatedAt = data?.data[0]?.analytics24h?.generatedAtTs ?? null;
  return (
    <>
      <div class="title">
        <h1>Pools</h1>
        {data && <span class="mute">{count(view.starred ? found.length : data.total)} found</span>}
        {generatedAt !== null && <AgeBadge at={generatedAt} limits={LISTING_LIMITS} of="listing" />}
        {Keys && <Keys />}
      </div>
      <ChainStrip view={view} isWaiting={data === null} />
      <Filters view={view} />
      {failure && <Notice tone="bad">{failure}</Notice>}
      <PoolTable
        view={view}
        rows={found}
        sums={data && found.length === data.data.length ? data.sums : undefined}
        total={data?.total ?? 0}
        trends={trends}
        isLoading={data === null && failure === null && key !== null}
      />
      {key === null && <Notice>No favourites yet: mark pools with ☆.</Notice>}
      {data?.data.length === 0 && (
        <Notice>
          {data.total > 0
            ? 'There is no such page of the list.'
            : 'No pool matches. Pools below $10 or unpriced are hidden unless asked for.'}
        </Notice>
      )}
      {data && <Pager view={view} shown={data.data} total={data.total} next={data.nextOffset} />}
      <h2>The same from a terminal</h2>
      <CurlBox line={curlOf(location.origin, listingPath(view, starred.map(addressOf)))} />
    </>
  );
}

const loadKeys = async () => (await import('./other-pages.tsx')).keysComponent();

const addressOf = (key: string) => key.slice(key.lastIndexOf(':') + 1);

function load(view: PoolsView, starred: readonly string[]) {
  const query = listingQuery(view, starred.map(addressOf));
  if (view.chain === null) {
    const sortBy = query.sortBy === 'created' ? 'tiered' : query.sortBy;
    return client.listPoolsAcrossChains({ ...query, sortBy });
  }
  return client.listPools({ ...query, chainId: view.chain });
}

const HEADINGS = [
  ['bid', 'Bid / ask', '', null],
  ['spread', 'Spread', 'widest', null],
  ['age', 'Age', 'wide', null],
  ['change', '24 h', '', 'change'],
  ['depth', 'Depth 1 %', 'wide', 'depth'],
  ['tvl', 'TVL', '', 'tvl'],
  ['volume', 'Volume 24 h', 'wide', 'volume'],
  ['apr', 'APR 24 h / 7 d', 'widest', 'apr'],
] as const;

type TableProps = {
  readonly view: PoolsView;
  readonly rows: readonly Pool[];
  /** Of the pools of all pages; undefined when the rows are not all that those hold. */
  readonly sums: PoolSums | undefined;
  readonly total: number;
  readonly trends: Trends | null;
  readonly isLoading: boolean;
};

function PoolTable({ view, rows, sums, total, trends, isLoading }: TableProps) {
  return (
    <table class="pools" aria-busy={isLoading}>
      <caption class="offscreen">Pools with live prices</caption>
      <thead>
        <tr>
          <th scope="col">Pool</th>
          {HEADINGS.map(([term, label, width, sort]) => (
            <th
              key={term}
              scope="col"
              class={`figure ${width}`}
              title={FIGURES[term].meaning}
              aria-sort={sort !== view.sort ? undefined : view.order === 'desc' ? 'descending' : 'ascending'}
            >
              {sort ? <SortLink view={view} sort={sort} label={label} /> : label}
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
          : rows.map((pool) => <PoolRow key={keyOf(pool)} pool={pool} trend={trends?.get(keyOf(pool))} />)}
      </tbody>
      {sums && rows.length > 0 && <Totals sums={sums} total={total} />}
    </table>
  );
}

/** Sorts by a column, the other way round when it is sorted already. */
function SortLink({ view, sort, label }: { readonly view: PoolsView; readonly sort: Sort; readonly label: string }) {
  const isSorted = view.sort === sort;
  const order = isSorted && view.order === 'desc' ? 'asc' : 'desc';
  return (
    <a href={hrefOf({ ...view, sort, order, offset: 0 })}>
      {label}
      {isSorted && (view.order === 'desc' ? ' ↓' : ' ↑')}
    </a>
  );
}

/** Figures that have a sum, by column. */
const SUMMED: Readonly<Record<string, keyof PoolSums>> = { depth: 'depthFiat', tvl: 'tvlFiat', volume: 'volumeFiat' };

/** What the pools of all pages come to together, as far as it is known. */
const Totals = ({ sums, total }: { readonly sums: PoolSums; readonly total: number }) => (
  <tfoot>
    <tr>
      <th scope="row" title="Without unknown figures">
        Sum of all {count(total)}
      </th>
      {HEADINGS.map(([term, , width]) => {
        const name = SUMMED[term];
        return (
          <td key={term} class={`figure ${width}`} title={name && usdFull(sums[name])}>
            {name && usdShort(sums[name])}
          </td>
        );
      })}
    </tr>
  </tfoot>
);

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
