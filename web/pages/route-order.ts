import { decimalText } from '../decimal-text.ts';
import type { Token } from '../parts/token.tsx';
import { rawUnits } from '../quantities.ts';

/** The trade that a route is requested for. The address of the page has all of it. */
export type RouteView = {
  readonly chain: number | null;
  readonly tokenIn: string;
  readonly tokenOut: string;
  readonly tradeType: 'exact_in' | 'exact_out';
  /** Whole tokens, with a point as decimal mark in all locales; empty when it was not a number. */
  readonly amount: string;
  /** Basis points. */
  readonly slippageBps: number;
};

export const DEFAULT_SLIPPAGE_BPS = 50;
export const MAX_SLIPPAGE_BPS = 5_000;

/** Reads a tolerance in percent. @returns basis points; null above {@link MAX_SLIPPAGE_BPS} and for no number */
export function slippageBpsOf(percent: string | null): number | null {
  const bps = percent === null || percent === '' ? Number.NaN : Math.round(Number(percent) * 100);
  return bps >= 0 && bps <= MAX_SLIPPAGE_BPS ? bps : null;
}

export function viewOf(params: URLSearchParams): RouteView {
  const chain = params.get('chain') ?? '';
  return {
    chain: /^\d+$/.test(chain) ? Number(chain) : null,
    tokenIn: (params.get('in') ?? '').toLowerCase(),
    tokenOut: (params.get('out') ?? '').toLowerCase(),
    tradeType: params.get('type') === 'exact_out' ? 'exact_out' : 'exact_in',
    amount: params.get('amount') ?? '',
    slippageBps: slippageBpsOf(params.get('slippage')) ?? DEFAULT_SLIPPAGE_BPS,
  };
}

export function hrefOf({ chain, tokenIn, tokenOut, tradeType, amount, slippageBps }: RouteView): string {
  const entries = [
    ['chain', chain === null ? '' : String(chain)],
    ['in', tokenIn],
    ['out', tokenOut],
    ['type', tradeType === 'exact_in' ? '' : tradeType],
    ['amount', amount],
    ['slippage', slippageBps === DEFAULT_SLIPPAGE_BPS ? '' : String(slippageBps / 100)],
  ].filter(([, value]) => value !== '');
  return `/route?${new URLSearchParams(entries as [string, string][])}`;
}

export type RouteBody = {
  readonly tokenIn: string;
  readonly tokenOut: string;
  readonly tradeType: 'exact_in' | 'exact_out';
  readonly amountIn?: string;
  readonly amountOut?: string;
};

/** Shows how to write an amount in the reader's locale. */
export const TYPE_AN_AMOUNT = `Type an amount such as ${decimalText('1234.5')}.`;

/** Parts of a price impact. */
export const ONE_E6 = 1_000_000;
/** What the page asks for at first, in US dollars. */
const USUAL_USD = 1_000;

/** Gives a round amount of about this worth; 1 of a token without a price. @param usd per whole token */
export function usualAmount({ decimals }: Token, usd: number | null): string {
  const digits = usd === null || usd <= 0 ? 0 : Math.max(Math.round(Math.log10(USUAL_USD / usd)), -(decimals ?? 0));
  return digits >= 0 ? `1${'0'.repeat(digits)}` : (10 ** digits).toFixed(-digits);
}

/** Makes the request of a view, or says in words what is missing in the view. */
export function bodyOf(view: RouteView, tokens: readonly Token[]): RouteBody | string {
  const tokenIn = tokens.find(({ address }) => address === view.tokenIn);
  const tokenOut = tokens.find(({ address }) => address === view.tokenOut);
  if (!tokenIn || !tokenOut) return 'Choose two tokens.';
  if (tokenIn === tokenOut) return 'Choose two different tokens.';
  const { tradeType, amount } = view;
  const given = tradeType === 'exact_in' ? tokenIn : tokenOut;
  if (given.decimals === null) return 'This token does not report its decimals: ask the API with raw units.';
  if (amount === '') return TYPE_AN_AMOUNT;
  const raw = rawUnits(amount, given.decimals);
  if (raw === null) return `The amount must be a positive number with at most ${given.decimals} decimals.`;
  const amounts = tradeType === 'exact_in' ? { amountIn: raw.toString() } : { amountOut: raw.toString() };
  return { tokenIn: tokenIn.address, tokenOut: tokenOut.address, tradeType, ...amounts };
}
