import type { Context } from 'hono';
import type pg from 'pg';
import type { Clocks } from '../../runtime/clock.ts';
import { defineResource } from '../declaration/api-route.ts';
import { sendReusable } from '../http/reusable.ts';
import { type ListedChain, listedChains } from '../listing/listed-chains.ts';
import { type ListingQuery, parseChainIds, toListingQuery, toPageQuery } from '../listing/query.ts';
import { CROSS_CHAIN_SORTS, RawCrossChainQuery, RawListingQuery, SORTS } from '../listing/query-string.ts';
import { chainIdParam, parseQuery, type ServedChains, servedChain } from '../request.ts';
import { listPools, listPoolsAcrossChains } from './declaration.ts';
import { createPageMaker } from './page.ts';
import { tokensPage } from './tokens.ts';
import { listTokens, RawTokensQuery } from './tokens-declaration.ts';
import { createVersionedPages, type PageRequest } from './versioned-pages.ts';

/** Two refreshes of the listing are 2 to 15 s apart. */
const CACHE_SECS = 5;

export type MetadataDeps = Pick<Clocks, 'now'> & {
  readonly chains: ServedChains;
  /** The replica, if there is one: the listing is only read. */
  readonly database: pg.Pool;
  /** A price status read longer ago than this is shown as `unknown`. */
  readonly statusMaxAgeSecs: number;
};

/** The listings of pools and of tokens, over one cache of pages. */
export const metadataResource = defineResource(
  [listPools, listPoolsAcrossChains, listTokens],
  ({ chains, database, statusMaxAgeSecs, now }: MetadataDeps) => {
    const readPage = createVersionedPages(database, statusMaxAgeSecs, now);
    const poolsPage = createPageMaker(statusMaxAgeSecs);
    const send = async (c: Context, request: PageRequest) => {
      const { body, isCurrent } = await readPage(request);
      return sendReusable(c, { body, maxAgeSecs: CACHE_SECS, isValid: isCurrent });
    };
    const sendPage = (c: Context, query: ListingQuery, listed: readonly ListedChain[]) =>
      send(c, poolsPage(query, listed));
    return {
      listPools(c) {
        const chainId = chainIdParam(c);
        const raw = parseQuery(c, RawListingQuery);
        const chain = servedChain(chains, chainId);
        const query = toListingQuery(raw, SORTS);
        return sendPage(c, query, listedChains([chain], query));
      },
      listPoolsAcrossChains(c) {
        const raw = parseQuery(c, RawCrossChainQuery);
        const query = toListingQuery(raw, CROSS_CHAIN_SORTS);
        const chainIds = parseChainIds(raw.chainIds);
        const named = [...chains.values()].filter(({ chainId }) => chainIds?.includes(chainId) ?? true);
        // If none of the named chains is served, a release counts as unknown only when no served chain has it.
        if (named.length === 0) listedChains([...chains.values()], query);
        return sendPage(c, query, named.length === 0 ? [] : listedChains(named, query));
      },
      listTokens(c) {
        const chainId = chainIdParam(c);
        const raw = parseQuery(c, RawTokensQuery);
        const chain = servedChain(chains, chainId);
        const query = toPageQuery(raw);
        const [listed = { ...chain, factories: [] }] = listedChains([chain], { contractVersion: null });
        return send(c, tokensPage(query, listed, chain.deployments));
      },
    };
  },
);
