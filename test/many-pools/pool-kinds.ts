import { type Address, numberToHex } from 'viem';

/** Who made a pool: an honest provider of liquidity, or an attacker who wants other pools to suffer. */
export type PoolKind = 'honest' | 'crowd' | 'burner' | 'inactive';

/** Where the index's tables are. */
export const SCHEMA = 'onchain_bench';

/** Pools of one chain. */
export type Sizes = Readonly<Record<PoolKind, number>>;

/** An active pool in a hundred. */
const HONEST_SHARE = 0.01;
const BURNER_SHARE = 0.1;
const CROWD_SHARE = 0.1;
/** Pools with liquidity on the crowded pair: more than a route takes. */
export const CANDIDATES = 40;
/** Of the second chain's candidates these have a stop loss; 24 candidates in all. */
export const GUARDED = { guarded: 20, plain: 4 };

/** @param pools of both chains together */
export function sizesOf(pools: number): Sizes {
  const ofChain = pools / 2;
  const honest = Math.max(2 * CANDIDATES, Math.round(ofChain * HONEST_SHARE));
  const [burner, crowd] = [Math.round(ofChain * BURNER_SHARE), Math.round(ofChain * CROWD_SHARE)];
  return { honest, burner, crowd, inactive: ofChain - honest - burner - crowd };
}

/** First number of the addresses of a kind: far above those of precompiles, and no two kinds overlap. */
export const FIRST_CLONE = { honest: 0x11_0000_0000, crowd: 0x22_0000_0000, burner: 0x33_0000_0000 } as const;
export const FIRST_INACTIVE = 0x44_0000_0000;
const FIRST_TOKEN = 0x55_0000_0000;
/** Untrusted pools that share a token. */
const POOLS_PER_TOKEN = 2;

export const addressOf = (number: number): Address => numberToHex(number, { size: 20 });

/** Untrusted tokens that this many pools need. */
export const untrustedTokens = (pools: number): Address[] =>
  Array.from({ length: Math.ceil(pools / POOLS_PER_TOKEN) }, (_, index) => addressOf(FIRST_TOKEN + index));

/** SQL: the token of the untrusted pool number `n`. */
export const untrustedTokenSql = `('0x' || lpad(to_hex(${FIRST_TOKEN} + n / ${POOLS_PER_TOKEN}), 40, '0'))`;
