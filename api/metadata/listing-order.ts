import { poolListings } from '../../db/schema/operator.ts';
import { columnNames } from '../../db/sql-names.ts';
import type { ListingQuery } from './query.ts';
import type { Sort } from './query-string.ts';

const key = columnNames(poolListings);

/** Sort keys, first to last; each sort has an index per scope. Unknown values come last both ways. */
const SORT_KEYS: Readonly<Record<Sort, readonly (keyof typeof key)[]>> = {
  tiered: ['tierRank', 'tvlFiat'],
  tvl: ['tvlFiat'],
  created: ['createdBlockNumber'],
  volume: ['volumeFiat', 'tvlFiat'],
  apr: ['aprBps'],
  apr7d: ['aprBps7d'],
};

/** The columns that a sort reads beside those of the pool's key. */
export const sortColumns = (sort: Sort): string[] => SORT_KEYS[sort].map((field) => key[field]);

export type OrderColumn = { readonly name: string; readonly direction: 'asc' | 'desc'; readonly isNullable: boolean };

/** A total order: ties end at the address, which is unique on its chain. */
export function orderColumns(
  { sort, order }: Pick<ListingQuery, 'sort' | 'order'>,
  isOneChain: boolean,
): OrderColumn[] {
  const ties = isOneChain ? [key.pool] : [key.chainId, key.pool];
  return [
    ...SORT_KEYS[sort].map((field) => ({
      name: key[field],
      direction: order,
      isNullable: !poolListings[field].notNull,
    })),
    ...ties.map((name) => ({ name, direction: 'asc' as const, isNullable: false })),
  ];
}

/** The indexes of columns that are never null have no `NULLS LAST`. */
export const orderBy = (columns: readonly OrderColumn[]): string =>
  columns.map(({ name, direction, isNullable }) => `${name} ${direction}${isNullable ? ' NULLS LAST' : ''}`).join(', ');

/** Pools between two bookmarks. */
export const BOOKMARK_STEP = 500;

/** A pool's place in an order: the values that it is sorted by. */
export type Bookmark = readonly (number | string | null)[];

/** Adds a parameter to a statement. @returns its place in the text, as `$1` */
export type Bind = (value: unknown) => string;

/** SQL: so many rows behind a bookmark and perhaps more, in parts of which each is a range of an index. */
export function behind(bookmark: Bookmark, columns: readonly OrderColumn[], count: number, bind: Bind): string {
  const same: string[] = [];
  const parts = columns.flatMap(({ name, direction, isNullable }, index) => {
    const value = bookmark[index] ?? null;
    const bound = value === null ? null : bind(value);
    // Unknown values come last.
    const later = bound === null ? [] : [`${name} ${direction === 'asc' ? '>' : '<'} ${bound}`];
    if (bound !== null && isNullable) later.push(`${name} IS NULL`);
    const ranges = later.map((range) => [...same, range].join(' AND '));
    same.push(bound === null ? `${name} IS NULL` : `${name} = ${bound}`);
    return ranges;
  });
  const ordered = `ORDER BY ${orderBy(columns)} LIMIT ${count}`;
  return `(${parts.map((range) => `(SELECT * FROM matching WHERE ${range} ${ordered})`).join(' UNION ALL ')}) behind`;
}
