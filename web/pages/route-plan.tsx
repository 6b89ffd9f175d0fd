import type { Pool, RoutePlan } from '../api.ts';
import { chainOf } from '../chains.ts';
import { count, NOTHING, priceText, share, tokenAmount } from '../format.ts';
import { nameOf, type Token, TokenDisc, TokenName } from '../parts/token.tsx';
import { humanPrice, wholeTokens, worstCase } from '../quantities.ts';
import { ONE_E6 } from './route-order.ts';

type Props = {
  readonly plan: RoutePlan;
  readonly chainId: number;
  readonly tokens: ReadonlyMap<string, Token>;
  /** The largest ones, which tell their fees. */
  readonly pools: readonly Pool[];
  readonly slippageBps: number;
};

/** Parts of a fee in a percent. */
const PERCENT_E8 = 1_000_000;

/** Shows a plan in a trader's words: what is paid and received, the worst case, and each hop. */
export function PlanView({ plan, chainId, tokens, pools, slippageBps }: Props) {
  const [tokenIn, tokenOut] = [tokens.get(plan.tokenIn), tokens.get(plan.tokenOut)];
  if (!tokenIn || !tokenOut) return null;
  const isExactIn = plan.tradeType === 'exact_in';
  const worst = worstCase(plan.tradeType, BigInt(isExactIn ? plan.amountOut : plan.amountIn), slippageBps);
  const bound = isExactIn ? tokenOut : tokenIn;
  return (
    <>
      <dl class="prices plan">
        <Amount label="You pay" raw={plan.amountIn} token={tokenIn} />
        <Amount label="You receive" raw={plan.amountOut} token={tokenOut} strong />
        <Amount label={isExactIn ? 'At least' : 'At most'} raw={worst.toString()} token={bound} />
        <div>
          <dt>Price</dt>
          <dd>
            {priceBetween(plan.effectivePriceX64, tokenIn, tokenOut)}{' '}
            <small>
              <TokenName token={tokenOut} /> per <TokenName token={tokenIn} />
            </small>
          </dd>
        </div>
        <div>
          <dt>Impact of the best route alone</dt>
          <dd>{share(Number(plan.priceImpactBestRoute), 1)}</dd>
        </div>
      </dl>
      <h2>Route</h2>
      <ol class="hops">
        {plan.routes.map((route) => (
          <li key={route.legs.map(({ poolAddress }) => poolAddress).join()}>
            <b>{share(partOf(route, plan), 1)}</b>
            <meter value={partOf(route, plan)} aria-hidden="true" />
            <TokenDisc token={tokenIn} />
            {route.legs.map((leg) => (
              <Leg key={leg.poolAddress} leg={leg} chainId={chainId} tokens={tokens} pools={pools} />
            ))}
          </li>
        ))}
      </ol>
      <p class="mute">
        {count(plan.candidatesConsidered)} paths on <bdi>{chainOf(chainId)?.name}</bdi> were compared.
      </p>
    </>
  );
}

const partOf = (route: { readonly amountIn: string }, plan: RoutePlan): number =>
  Number(BigInt(route.amountIn)) / Number(BigInt(plan.amountIn));

/** Writes a price of a plan in whole output tokens per whole input token. */
export function priceBetween(x64: string, tokenIn: Token, tokenOut: Token): string {
  if (tokenIn.decimals === null || tokenOut.decimals === null) return 'not known';
  return priceText(humanPrice(x64, tokenIn.decimals, tokenOut.decimals));
}

/** Writes raw units in whole tokens, rounded for show. */
export const rawText = (raw: string, token: Token): string =>
  token.decimals === null ? amountOf(raw, token) : tokenAmount(amountOf(raw, token));

type AmountProps = { readonly label: string; readonly raw: string; readonly token: Token; readonly strong?: boolean };

function Amount({ label, raw, token, strong = false }: AmountProps) {
  const text = amountOf(raw, token);
  return (
    <div>
      <dt>{label}</dt>
      <dd title={text} class={strong ? 'tone good' : ''}>
        {rawText(raw, token)}{' '}
        <small>
          <TokenName token={token} />
        </small>
      </dd>
    </div>
  );
}

const amountOf = (raw: string, { decimals }: Token): string =>
  decimals === null ? `${raw} raw` : wholeTokens(BigInt(raw), decimals);

type LegProps = Pick<Props, 'chainId' | 'tokens' | 'pools'> & {
  readonly leg: RoutePlan['routes'][number]['legs'][number];
};

/** A pool on the way, between what goes in and the token that comes out. */
function Leg({ leg, chainId, tokens, pools }: LegProps) {
  const unknown = (address: string): Token => ({ address, symbol: null, decimals: null, color: null });
  const tokenIn = tokens.get(leg.tokenIn) ?? unknown(leg.tokenIn);
  const tokenOut = tokens.get(leg.tokenOut) ?? unknown(leg.tokenOut);
  const pool = pools.find(({ poolAddress }) => poolAddress === leg.poolAddress);
  const fees = [pool?.protocolNotionalFeeE8 ?? null, pool?.adminNotionalFeeE8 ?? null];
  const fee = fees.includes(null) ? NOTHING : `${tokenAmount(((fees[0] ?? 0) + (fees[1] ?? 0)) / PERCENT_E8)}%`;
  return (
    <>
      <span class="arrow" aria-hidden="true" />
      <span class="leg">
        <a href={`/pool/${chainId}/${leg.poolAddress}`}>
          <bdi>{leg.pair}</bdi>
        </a>
        <span>
          {rawText(leg.amountIn, tokenIn)} <bdi>{nameOf(tokenIn)}</bdi> → {rawText(leg.amountOut, tokenOut)}{' '}
          <bdi>{nameOf(tokenOut)}</bdi>
        </span>
        <small>
          at {priceBetween(leg.effectivePriceX64, tokenIn, tokenOut)}, fee {fee}, impact{' '}
          {share(Number(leg.priceImpactE6), ONE_E6)}
        </small>
      </span>
      <span class="arrow" aria-hidden="true" />
      <TokenDisc token={tokenOut} />
    </>
  );
}
