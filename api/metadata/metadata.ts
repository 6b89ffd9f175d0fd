import type pg from 'pg';
import { defineResource } from '../declaration/api-route.ts';
import { sendTagged } from '../http/cached.ts';
import { chainIdParam, parseQuery, type ServedChains, servedChain } from '../request.ts';
import { listPools, listPoolsAcrossChains } from './declaration.ts';
import { askedChains, assertReleaseServed, listedChain } from './listed-chains.ts';
import { createPageReader } from './page.ts';
import { parseChainIds, toListingQuery } from './query.ts';
import { CROSS_CHAIN_SORTS, RawCrossChainQuery, RawListingQuery, SORTS } from './query-string.ts';

export type MetadataDeps = {
  readonly chains: ServedChains;
  /** The replica, when there is one: the listing only reads. */
  readonly database: pg.Pool;
  /** Connections for pages that are not among the usual ones, with a short time limit. Default: `database`. */
  readonly rarePages?: pg.Pool;
  /** Filters whose totals are remembered between two refreshes. */
  readonly maxTotals?: number;
  readonly maxCacheBytes?: number;
  /** A price status read longer ago than this is shown as `unknown`. */
  readonly statusMaxAgeSecs: number;
};

/** Both listings, over one cache of pages. */
export const metadataResource = defineResource(
  [listPools, listPoolsAcrossChains],
  ({ chains, database, rarePages = database, statusMaxAgeSecs, maxTotals, maxCacheBytes }: MetadataDeps) => {
    const readPage = createPageReader({
      database,
      rarePages,
      maxAgeSecs: statusMaxAgeSecs,
      maxTotals,
      maxCacheBytes,
    });
    return {
      async listPools(c) {
        const chainId = chainIdParam(c);
        const raw = parseQuery(c, RawListingQuery);
        const chain = servedChain(chains, chainId);
        const query = toListingQuery(raw, SORTS);
        assertReleaseServed([chain], query.contractVersion);
        return sendTagged(
          c,
          await readPage(query, { single: true, chains: [listedChain(chain, query.contractVersion)] }),
        );
      },
      async listPoolsAcrossChains(c) {
        const raw = parseQuery(c, RawCrossChainQuery);
        const query = toListingQuery(raw, CROSS_CHAIN_SORTS);
        const asked = askedChains(chains, parseChainIds(raw.chainIds));
        assertReleaseServed(asked.length > 0 ? asked : [...chains.values()], query.contractVersion);
        const listed = asked.map((chain) => listedChain(chain, query.contractVersion));
        return sendTagged(c, await readPage(query, { single: false, chains: listed }));
      },
    };
  },
);
