import { chains } from '../chains.ts';
import { readDecimal } from '../decimal-text.ts';
import { go, here } from '../location.ts';
import type { Token } from '../parts/token.tsx';
import { textOf, useTypedDecimal } from '../typed.ts';
import { hrefOf, MAX_SLIPPAGE_BPS, type RouteView, slippageBpsOf, viewOf } from './route-order.ts';

type Props = { readonly view: RouteView; readonly tokens: readonly Token[] };

/** Tokens, amount and tolerance of a trade. Each change is a new address. */
export function RouteForm({ view, tokens }: Props) {
  const change = (part: Partial<RouteView>) =>
    go(hrefOf({ ...viewOf(here.peek().searchParams), chain: view.chain, ...part }), true);
  const [amount, typeAmount] = useTypedDecimal(view.amount, (typed) => change({ amount: typed }));
  const [slippage, typeSlippage] = useTypedDecimal(String(view.slippageBps / 100), (typed) => {
    const slippageBps = slippageBpsOf(typed);
    // What is no tolerance changes nothing: the field says so.
    if (slippageBps !== null) change({ slippageBps });
  });
  const isTolerance = slippageBpsOf(readDecimal(slippage)) !== null;
  return (
    <form class="filters" aria-label="Trade" onSubmit={(event) => event.preventDefault()}>
      <label>
        Chain
        <select
          value={view.chain ?? ''}
          onChange={(event) =>
            go(hrefOf({ ...view, chain: Number(textOf(event)), tokenIn: '', tokenOut: '', amount: '' }))
          }
        >
          {chains.value?.map(({ chainId, name }) => (
            <option key={chainId} value={chainId}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <TokenField label="Pay" {...{ tokens, value: view.tokenIn }} onChange={(tokenIn) => change({ tokenIn })} />
      <button
        type="button"
        aria-label="Swap the two tokens"
        onClick={() => change({ tokenIn: view.tokenOut, tokenOut: view.tokenIn })}
      >
        ⇄
      </button>
      <TokenField label="Receive" {...{ tokens, value: view.tokenOut }} onChange={(tokenOut) => change({ tokenOut })} />
      <label>
        Fixed
        <select
          value={view.tradeType}
          onChange={(event) => change({ tradeType: textOf(event) as RouteView['tradeType'] })}
        >
          <option value="exact_in">what I pay</option>
          <option value="exact_out">what I receive</option>
        </select>
      </label>
      <label>
        Amount
        <input inputMode="decimal" autocomplete="off" value={amount} onInput={typeAmount} />
      </label>
      <label>
        {isTolerance ? 'Slippage, %' : `Slippage: 0 to ${MAX_SLIPPAGE_BPS / 100} %`}
        <input class="short" inputMode="decimal" aria-invalid={!isTolerance} value={slippage} onInput={typeSlippage} />
      </label>
    </form>
  );
}

type FieldProps = {
  readonly label: string;
  readonly tokens: readonly Token[];
  readonly value: string;
  readonly onChange: (address: string) => void;
};

/** A choice of tokens. Symbols are not unique, nor are ends of addresses: each comes with its whole one. */
const TokenField = ({ label, tokens, value, onChange }: FieldProps) => (
  <label>
    {label}
    <select value={value} onChange={(event) => onChange(textOf(event))}>
      <option value="">choose a token</option>
      {tokens.map(({ address, symbol }) => (
        <option key={address} value={address}>
          {symbol === null ? address : `${symbol} (${address})`}
        </option>
      ))}
    </select>
  </label>
);
