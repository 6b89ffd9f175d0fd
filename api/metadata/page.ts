import type { QueryResultRow } from 'pg';
import { showPool } from '../../db/listing/show-pool.ts';
import type { Queryable } from '../../db/transaction.ts';
import { joinJson, ReadyJson } from '../../runtime/joined-json.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import { ResultCache } from '../../runtime/result-cache.ts';
import { ReadyBody } from '../http/ready-body.ts';
import type { ListedChain } from '../listing/listed-chains.ts';
import {
  countStatement,
  type FoundRow,
  findStatement,
  type ShownRow,
  type Statement,
  showStatement,
  type TotalRow,
} from '../listing/listing-sql.ts';
import { isCommon, type ListingQuery } from '../listing/query.ts';
import { hashOf, type PageRequest, versionIn } from './versioned-pages.ts';

/** Most totals. */
const MAX_TOTALS = 1_000;

/** What makes the page of a query. */
export type PageOfPools = (query: ListingQuery, chains: readonly ListedChain[]) => PageRequest;

/**
 * Makes pages from the ready listing.
 *
 * @param maxAgeSecs in a listing that was refreshed longer ago, every price status is `unknown`
 */
export function createPageMaker(maxAgeSecs: number): PageOfPools {
  const totals = new ResultCache<TotalRow>(MAX_TOTALS);

  const makePage = async (client: Queryable, query: ListingQuery, chains: readonly ListedChain[]) => {
    const found = await selectOne<FoundRow>(client, findStatement(query, chains, maxAgeSecs));
    const count = () => selectOne<TotalRow>(client, countStatement(query, chains));
    const totalRow = await totals.get(`${versionIn(found)} ${filterKey(query, chains)}`, count);
    const shown =
      found.pools && (await client.query<ShownRow>(showStatement(found, query.include24h, maxAgeSecs))).rows;
    await nextTurn(); // Other requests are served between the steps of a page.
    return renderPage(shown ?? [], query, totalRow);
  };

  return (query, chains) => ({
    name: [chains, query],
    isCommon: isCommon(query),
    make: (client) => makePage(client, query, chains),
  });
}

async function selectOne<Row extends QueryResultRow>(from: Queryable, statement: Statement): Promise<Row> {
  const { rows } = await from.query<Row>(statement);
  return rows[0] as Row;
}

/** The key of a total: pages with the same filter share it. */
function filterKey({ count, offset, sort, order, ...filter }: ListingQuery, chains: readonly ListedChain[]) {
  return hashOf([chains, filter]);
}

function renderPage(rows: readonly ShownRow[], { offset }: ListingQuery, { total: found, sums }: TotalRow): ReadyBody {
  const total = Number(found);
  const data = rows.map(({ record, status, swapGas, prices, ...day }) => {
    return new ReadyJson(showPool({ record, status, swapGas, prices, day: day.analytics === null ? null : day }));
  });
  const end = offset + data.length;
  const nextOffset = data.length > 0 && end < total ? end : null;
  return new ReadyBody(joinJson({ data, total, nextOffset, ...(sums && { sums }) }).join(''));
}
