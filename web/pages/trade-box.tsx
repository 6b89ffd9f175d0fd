import { useState } from 'preact/hooks';
import type { Quote } from '../api.ts';
import { readDecimal } from '../decimal-text.ts';
import { fillOf } from '../fill.ts';
import { NOTHING, share } from '../format.ts';
import { freshness, now, PRICE_LIMITS } from '../parts/age.tsx';
import { nameOf, type Token } from '../parts/token.tsx';
import { rawUnits } from '../quantities.ts';
import { textOf } from '../typed.ts';
import { DEFAULT_SLIPPAGE_BPS, hrefOf, ONE_E6, type RouteView, TYPE_AN_AMOUNT } from './route-order.ts';
import { priceBetween, rawText } from './route-plan.tsx';

interface Props {
  readonly chainId: number;
  readonly quote: Quote | null;
  /** Whether the service has withdrawn the quote, or cannot be reached. */
  readonly isWithdrawn: boolean;
  readonly tokens: readonly [Token, Token];
}

const TOO_OLD = 'The last price is too old to trade on.';

/** Quotes a trade of token0 in one pool by its depth, as one types and as the depth changes. */
export function TradeBox({ chainId, quote, isWithdrawn, tokens }: Props) {
  const [isSale, sell] = useState(true);
  const [typed, type] = useState('1');
  const amount = readDecimal(typed) ?? '';
  const [token0, token1] = tokens;
  const tradeType = isSale ? 'exact_in' : 'exact_out';
  const given = token0.decimals === null ? null : rawUnits(amount, token0.decimals);
  const isOld = isWithdrawn || (quote !== null && freshness(now.value - quote.serverTs, PRICE_LIMITS) === 'red');
  const fill = given === null || isOld ? null : fillOf(quote, isSale, tradeType, given);
  const facts = [
    [isSale ? 'You receive' : 'You pay', fill && `${rawText(String(fill.computed), token1)} ${nameOf(token1)}`],
    ['Price', fill && given && priceBetween(String((fill.computed << 64n) / given), token0, token1)],
    ['Impact', fill && share(fill.impactE6, ONE_E6)],
  ] as const;
  const [tokenIn, tokenOut] = isSale ? [token0.address, token1.address] : [token1.address, token0.address];
  const route: RouteView = { chain: chainId, tokenIn, tokenOut, tradeType, amount, slippageBps: DEFAULT_SLIPPAGE_BPS };
  return (
    <form class="trade" aria-label="Trade" onSubmit={(event) => event.preventDefault()}>
      <div class="choices">
        {[true, false].map((each) => (
          <button key={String(each)} type="button" aria-pressed={each === isSale} onClick={() => sell(each)}>
            {each ? 'Sell' : 'Buy'} <bdi>{nameOf(token0)}</bdi>
          </button>
        ))}
        <input
          class="short"
          aria-label={`Amount of ${nameOf(token0)}`}
          inputMode="decimal"
          value={typed}
          onInput={(event) => type(textOf(event))}
        />
      </div>
      <dl class="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd data-figure={label}>
              <bdi>{value || NOTHING}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      {quote && !fill && (
        <p class="mute">{isOld ? TOO_OLD : given ? 'This pool is not deep enough now.' : TYPE_AN_AMOUNT}</p>
      )}
      <a href={hrefOf(route)}>Quote a trade over all pools</a>
    </form>
  );
}
