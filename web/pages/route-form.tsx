import { useState } from 'preact/hooks';
import { chains } from '../chains.ts';
import { shortHex } from '../format.ts';
import { go } from '../location.ts';
import type { Token } from '../parts/token.tsx';
import { hrefOf, type RouteView } from './route-order.ts';

type Props = { readonly view: RouteView; readonly tokens: readonly Token[] };

const textOf = (event: Event) => (event.currentTarget as HTMLInputElement | HTMLSelectElement).value;

/** Tokens, amount and tolerance of a trade. */
export function RouteForm({ view, tokens }: Props) {
  const [draft, setDraft] = useState(view);
  const change = (part: Partial<RouteView>) => setDraft((last) => ({ ...last, ...part }));
  const onSubmit = (event: Event) => {
    event.preventDefault();
    go(hrefOf(draft));
  };
  return (
    <form class="filters" aria-label="Trade" onSubmit={onSubmit}>
      <label>
        Chain
        <select
          value={draft.chain ?? ''}
          onChange={(event) => go(hrefOf({ ...draft, chain: Number(textOf(event)), tokenIn: '', tokenOut: '' }))}
        >
          {chains.value?.map(({ chainId, name }) => (
            <option key={chainId} value={chainId}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <TokenField label="Pay" {...{ tokens, value: draft.tokenIn }} onChange={(tokenIn) => change({ tokenIn })} />
      <button
        type="button"
        aria-label="Swap the two tokens"
        onClick={() => change({ tokenIn: draft.tokenOut, tokenOut: draft.tokenIn })}
      >
        ⇄
      </button>
      <TokenField
        label="Receive"
        {...{ tokens, value: draft.tokenOut }}
        onChange={(tokenOut) => change({ tokenOut })}
      />
      <label>
        Fixed
        <select
          value={draft.tradeType}
          onChange={(event) => change({ tradeType: textOf(event) as RouteView['tradeType'] })}
        >
          <option value="exact_in">what I pay</option>
          <option value="exact_out">what I receive</option>
        </select>
      </label>
      <label>
        Amount
        <input
          inputMode="decimal"
          autocomplete="off"
          value={draft.amount}
          onInput={(event) => change({ amount: textOf(event) })}
        />
      </label>
      <label>
        Slippage, %
        <input
          class="short"
          type="number"
          min="0"
          max="50"
          step="0.01"
          value={draft.slippageBps / 100}
          onInput={(event) => change({ slippageBps: Math.round(Number(textOf(event)) * 100) })}
        />
      </label>
      <button type="submit" class="main">
        Quote
      </button>
    </form>
  );
}

type FieldProps = {
  readonly label: string;
  readonly tokens: readonly Token[];
  readonly value: string;
  readonly onChange: (address: string) => void;
};

/** A choice of tokens. Symbols are not unique, so each comes with its address. */
const TokenField = ({ label, tokens, value, onChange }: FieldProps) => (
  <label>
    {label}
    <select value={value} onChange={(event) => onChange(textOf(event))}>
      <option value="">choose a token</option>
      {tokens.map(({ address, symbol }) => (
        <option key={address} value={address}>
          {symbol === null ? shortHex(address) : `${symbol} (${shortHex(address)})`}
        </option>
      ))}
    </select>
  </label>
);
