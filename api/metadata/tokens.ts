import type { DeploymentConfig } from '../../config/chains-schema.ts';
import { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import { loadStatement } from '../../db/load-statement.ts';
import { ReadyBody } from '../http/ready-body.ts';
import type { ListedChain } from '../listing/listed-chains.ts';
import type { PageQuery } from '../listing/query.ts';
import { DEFAULT_COUNT } from '../listing/query-string.ts';
import type { TokensPage } from './tokens-declaration.ts';
import type { PageRequest } from './versioned-pages.ts';

type Deployments = readonly Pick<DeploymentConfig, 'poolFactory' | 'router'>[];
type Token = TokensPage['data'][number];
/** Without an address: the page is empty. */
type TokenRow = { readonly total: number; readonly factories: readonly string[] | null } & (
  | Omit<Token, 'routers'>
  | { readonly address: null }
);

const selectTokens = loadStatement<TokenRow>('./select-tokens.sql', import.meta.url, 'listed-tokens');

/** A page of the tokens of the pools that a chain lists, at any TVL. */
export const tokensPage = (
  { count, offset }: PageQuery,
  { chainId, factories }: ListedChain,
  deployments: Deployments,
): PageRequest => ({
  name: ['tokens', chainId, factories, count, offset],
  isCommon: count === DEFAULT_COUNT && offset === 0,
  make: async (client) => {
    const rows = await selectTokens(client, [chainId, factories, TIER_RANKS.black, count, offset]);
    return new ReadyBody(JSON.stringify(pageOf(rows, offset, deployments)));
  },
});

function pageOf(rows: readonly TokenRow[], offset: number, deployments: Deployments): TokensPage {
  const data = rows.flatMap(({ total: _, factories, ...token }): Token[] => {
    if (token.address === null) return [];
    const own = deployments.filter(({ poolFactory }) => factories?.includes(poolFactory));
    return [{ ...token, routers: [...new Set(own.flatMap(({ router }) => router ?? []))].sort() }];
  });
  const total = rows[0]?.total ?? 0;
  const end = offset + data.length;
  return { data, total, nextOffset: data.length > 0 && end < total ? end : null };
}
