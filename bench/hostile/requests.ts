import type { LoadRequest } from '../../test/abuse/timed-request.ts';
import type { HostileChain } from './chain.ts';

const BASE = '/public/v1/evm';
const SORTS = ['tiered', 'tvl', 'created', 'volume', 'apr', 'apr7d'];
const AMOUNTS = 50;

/** A quote of one pool of each honest group. */
export function quoteRequests(chains: readonly HostileChain[]): LoadRequest[] {
  return chains.flatMap(({ chainId, groups }) =>
    groups
      .filter(({ kind }) => kind === 'honest')
      .map(({ served }) => ({ path: `${BASE}/${chainId}/${served.address}/bid_ask` })),
  );
}

/** A page of each sort, with and without figures of the day, of funded pools and of all. */
export function pageRequests(chains: readonly HostileChain[]): LoadRequest[] {
  return chains.flatMap(({ chainId }) =>
    SORTS.flatMap((sort) =>
      ['false', 'true'].flatMap((include24h) =>
        ['', '&minTvlFiat=0'].map((floor) => ({
          path: `${BASE}/${chainId}/metadata?sortBy=${sort}&include24h=${include24h}${floor}`,
        })),
      ),
    ),
  );
}

/** Orders over the crowded pair, from a thousandth of a token upwards. */
export function routeRequests({ chainId, crowded }: HostileChain): LoadRequest[] {
  return Array.from({ length: AMOUNTS }, (_, index) => ({
    path: `${BASE}/${chainId}/route`,
    body: JSON.stringify({
      tokenIn: crowded.token0,
      tokenOut: crowded.token1,
      amountIn: String(10n ** 15n * BigInt(1 + index * index)),
    }),
  }));
}
