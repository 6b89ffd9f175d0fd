import type { Address, Hex } from 'viem';
import type { ContractName } from '../artifacts.ts';

/** A token of the devnet's market. */
export interface TokenPlan {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** Ordinary, with words for strings, or refusing to say its name. */
  readonly contract: Extract<ContractName, 'Token' | 'Bytes32Token' | 'NamelessToken'>;
  /** Decimal string. */
  readonly usd: string;
  /** The feed that prices it. */
  readonly feed: string;
  readonly usdPegged?: boolean;
  readonly brandColor?: string;
  /** Whether the chains file lists its fiat price; others are derived or unknown. */
  readonly listedPrice?: boolean;
  /** An issuer's multiplier applies, which the devnet's oracle does not know. */
  readonly tokenizedStock?: boolean;
}

const ORDINARY = { contract: 'Token' } as const;

export const MARKET_TOKENS: readonly TokenPlan[] = [
  {
    symbol: 'WETH',
    name: 'Wrapped Ether',
    decimals: 18,
    usd: '3500',
    feed: 'ETH/USD',
    ...ORDINARY,
    brandColor: '#627eea',
    listedPrice: true,
  },
  {
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
    usd: '1',
    feed: 'USDC/USD',
    ...ORDINARY,
    brandColor: '#2775ca',
    listedPrice: true,
    usdPegged: true,
  },
  {
    symbol: 'WBTC',
    name: 'Wrapped BTC',
    decimals: 8,
    usd: '98000',
    feed: 'BTC/USD',
    ...ORDINARY,
    brandColor: '#f09242',
    listedPrice: true,
  },
  {
    symbol: 'USDT',
    name: 'Tether USD',
    decimals: 6,
    usd: '1.0003',
    feed: 'USDT/USD',
    ...ORDINARY,
    brandColor: '#26a17b',
    listedPrice: true,
    usdPegged: true,
  },
  { symbol: 'DAI', name: 'Dai Stablecoin', decimals: 18, usd: '0.9998', feed: 'DAI/USD', ...ORDINARY },
  {
    symbol: 'MKR',
    name: 'Maker',
    decimals: 18,
    usd: '1500',
    feed: 'MKR/USD',
    contract: 'Bytes32Token',
  },
  {
    symbol: '',
    name: '',
    decimals: 18,
    usd: '0.25',
    feed: 'NAMELESS/USD',
    contract: 'NamelessToken',
  },
  {
    symbol: 'ACMEx',
    name: 'Acme tokenized stock',
    decimals: 18,
    usd: '180',
    feed: 'ACME/USD',
    ...ORDINARY,
    listedPrice: true,
    tokenizedStock: true,
  },
];

/** A feed of the oracle. */
export interface FeedPlan {
  readonly name: string;
  /** Decimal string. */
  readonly usd: string;
  /** Half-spread, fraction E18. */
  readonly spreadE18: bigint;
  /** Whether traffic moves its price. */
  readonly moves: boolean;
  /** Symbol of the token that the chains file says it prices; absent: the file does not name the feed. */
  readonly vouchedFor?: string;
}

const BASIS_POINT_E18 = 10n ** 14n;

const ETHER_FEED = { usd: '3500', spreadE18: 2n * BASIS_POINT_E18, moves: false } as const;

/** One per token, and feeds of their own for pools whose state must not drift. */
export const FEEDS: readonly FeedPlan[] = [
  ...MARKET_TOKENS.map(({ feed, usd, usdPegged, symbol }) => ({
    name: feed,
    usd,
    moves: true,
    spreadE18: usdPegged ? BASIS_POINT_E18 / 10n : 2n * BASIS_POINT_E18,
    vouchedFor: symbol,
  })),
  ...['ETH/USD still', 'ETH/USD rising', 'ETH/USD jumping', 'ETH/USD silent'].map((name) => ({
    ...ETHER_FEED,
    name,
    vouchedFor: 'WETH',
  })),
  { ...ETHER_FEED, name: 'ETH/USD unvouched' },
];

/** A decimal string as Q64.64, rounded down. */
export function toX64(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return (BigInt(whole + fraction) << 64n) / 10n ** BigInt(fraction.length);
}

export interface ScenarioToken extends Omit<TokenPlan, 'contract'> {
  readonly address: Address;
  readonly feedId: Hex;
}
