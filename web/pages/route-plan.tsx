import type { RoutePlan } from '../api.ts';
import { chainOf } from '../chains.ts';
import { count, priceText, share, tokenAmount } from '../format.ts';
import { nameOf, type Token, TokenName } from '../parts/token.tsx';
import { humanPrice, wholeTokens, worstCase } from '../quantities.ts';

type Props = {
  readonly plan: RoutePlan;
  readonly chainId: number;
  readonly tokens: ReadonlyMap<string, Token>;
  readonly slippageBps: number;
};

const ONE_E6 = 1_000_000;

/** Shows a plan in a trader's words: what is paid and received, the worst case, and each hop. */
export function PlanView({ plan, chainId, tokens, slippageBps }: Props) {
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
            <b>{share(Number(BigInt(route.amountIn)) / Number(BigInt(plan.amountIn)), 1)}</b> of the order
            <ol>
              {route.legs.map((leg) => (
                <Leg key={leg.poolAddress} leg={leg} chainId={chainId} tokens={tokens} />
              ))}
            </ol>
          </li>
        ))}
      </ol>
      <p class="mute">
        {count(plan.candidatesConsidered)} paths on <bdi>{chainOf(chainId)?.name}</bdi> were compared.
      </p>
    </>
  );
}

function priceBetween(x64: string, tokenIn: Token, tokenOut: Token): string {
  if (tokenIn.decimals === null || tokenOut.decimals === null) return 'not known';
  return priceText(humanPrice(x64, tokenIn.decimals, tokenOut.decimals));
}

type AmountProps = { readonly label: string; readonly raw: string; readonly token: Token; readonly strong?: boolean };

function Amount({ label, raw, token, strong = false }: AmountProps) {
  const text = amountOf(raw, token);
  return (
    <div>
      <dt>{label}</dt>
      <dd title={text} class={strong ? 'tone good' : ''}>
        {token.decimals === null ? text : tokenAmount(text)}{' '}
        <small>
          <TokenName token={token} />
        </small>
      </dd>
    </div>
  );
}

const amountOf = (raw: string, { decimals }: Token): string =>
  decimals === null ? `${raw} raw` : wholeTokens(BigInt(raw), decimals);

type LegProps = Pick<Props, 'chainId' | 'tokens'> & { readonly leg: RoutePlan['routes'][number]['legs'][number] };

function Leg({ leg, chainId, tokens }: LegProps) {
  const unknown = (address: string): Token => ({ address, symbol: null, decimals: null, color: null });
  const tokenIn = tokens.get(leg.tokenIn) ?? unknown(leg.tokenIn);
  const tokenOut = tokens.get(leg.tokenOut) ?? unknown(leg.tokenOut);
  const show = (raw: string, token: Token) =>
    token.decimals === null ? amountOf(raw, token) : tokenAmount(amountOf(raw, token));
  return (
    <li>
      {show(leg.amountIn, tokenIn)} <bdi>{nameOf(tokenIn)}</bdi> → {show(leg.amountOut, tokenOut)}{' '}
      <bdi>{nameOf(tokenOut)}</bdi> in{' '}
      <a href={`/pool/${chainId}/${leg.poolAddress}`}>
        <bdi>{leg.pair}</bdi>
      </a>{' '}
      <span class="mute">
        at {priceBetween(leg.effectivePriceX64, tokenIn, tokenOut)}, impact {share(Number(leg.priceImpactE6), ONE_E6)}
      </span>
    </li>
  );
}
