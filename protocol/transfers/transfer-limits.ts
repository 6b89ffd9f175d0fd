import type { PoolCurve, PoolSide } from '../curve.ts';
import type { ExecutableLevels, TradingSides } from '../depth.ts';
import { minBigint } from '../fixed-point.ts';
import type { Moved } from './transfer-proof.ts';

/**
 * The most of a token that one swap can take out of a pool and bring into it, raw units; null where no bound is known.
 */
export interface TokenLimits {
  readonly out: bigint | null;
  readonly in: bigint | null;
}

/** The limits of a pool's tokens. */
export interface TransferLimits {
  readonly token0: TokenLimits;
  readonly token1: TokenLimits;
}

/**
 * Derives the limits of a token.
 *
 * @param held what the bins of the pool hold, raw units
 * @param balance what the token reports as the pool's balance; null when it reports none
 * @param moved null when no transfer was tried
 */
export function tokenLimits(held: bigint, balance: bigint | null, moved: Moved | null): TokenLimits {
  const { amount, sent, received } = moved ?? { amount: 0n, sent: 0n, received: 0n };
  const bounds = [...(balance !== null && balance < held ? [balance] : []), ...(sent < amount ? [sent] : [])];
  return { out: bounds.length > 0 ? bounds.reduce(minBigint) : null, in: received < amount ? received : null };
}

/** Which sides cannot trade, because their input or output token does not move. */
export function closedSides({ token0, token1 }: TransferLimits): { readonly bids: boolean; readonly asks: boolean } {
  return { bids: token0.in === 0n || token1.out === 0n, asks: token1.in === 0n || token0.out === 0n };
}

/** Ends each side where one of its tokens moves no further: only what can be paid trades. */
export function withinTransfers(
  { bids, asks }: PoolCurve,
  trading: TradingSides,
  { token0, token1 }: TransferLimits,
): TradingSides {
  return {
    bids: levelsWithin(bids, trading.bids, token0.in, token1.out),
    asks: levelsWithin(asks, trading.asks, token1.in, token0.out),
  };
}

function levelsWithin(
  side: PoolSide,
  levels: ExecutableLevels,
  mostIn: bigint | null,
  mostOut: bigint | null,
): ExecutableLevels {
  const last = levels?.at(-1);
  if (mostIn === 0n || mostOut === 0n) return null;
  if (!levels || !last) return levels;
  const isPaid = mostOut === null || last.cumulativeOutput <= mostOut;
  if (isPaid && (mostIn === null || last.cumulativeInput <= mostIn)) return levels;
  const inputs = [last.cumulativeInput, ...(mostIn === null ? [] : [mostIn])];
  const most = [...inputs, ...(mostOut === null || isPaid ? [] : [side.inputWithin(mostOut)])].reduce(minBigint);
  const within = most > 0n ? side.levelsWithin({ most, level: levels.length }) : [];
  return (within.at(-1)?.cumulativeOutput ?? 0n) > 0n ? within : null;
}
