import type { Pool } from '../api.ts';
import { shortHex } from '../format.ts';

/** A token of a pool; what it does not report is null. */
export type Token = {
  readonly address: string;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly color: string | null;
};

export function tokensOf(pool: Pool): readonly [Token, Token] {
  return [
    {
      address: pool.token0,
      symbol: pool.token0Symbol ?? null,
      decimals: pool.token0Decimals ?? null,
      color: pool.token0BrandColor ?? null,
    },
    {
      address: pool.token1,
      symbol: pool.token1Symbol ?? null,
      decimals: pool.token1Decimals ?? null,
      color: pool.token1BrandColor ?? null,
    },
  ];
}

/** Gives the symbol, or a short address in its place. */
export const nameOf = ({ symbol, address }: Token): string => symbol ?? shortHex(address);

/**
 * Shows the name of a token. Symbols are untrusted, so `bdi` isolates their direction and the style sheet cuts them.
 */
export const TokenName = ({ token }: { readonly token: Token }) => <bdi class="name">{nameOf(token)}</bdi>;

const LETTERS = 2;

/** Shows a coloured disc with letters instead of a logo, so that no picture comes from another host. */
export function TokenDisc({ token }: { readonly token: Token }) {
  const background = token.color ?? `hsl(${Number.parseInt(token.address.slice(-6), 16) % 360} 45% 42%)`;
  const letters = [...(token.symbol ?? token.address.slice(2))].slice(0, LETTERS).join('');
  return (
    <span class="disc" style={{ background }} aria-hidden="true">
      {letters}
    </span>
  );
}

export function PairName({ pool }: { readonly pool: Pool }) {
  const [token0, token1] = tokensOf(pool);
  return (
    <span class="pair">
      <span class="discs">
        <TokenDisc token={token0} />
        <TokenDisc token={token1} />
      </span>
      <TokenName token={token0} />
      <span class="slash">/</span>
      <TokenName token={token1} />
    </span>
  );
}
