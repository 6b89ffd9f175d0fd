import { z } from 'zod';
import type { Random } from '../../devnet/traffic/random.ts';
import type { PoolToken } from '../../quoting/pools/pool-directory.ts';
import type { BenchMarket } from './market.ts';

const Answer = z.union([
  z.object({
    candidatesConsidered: z.number(),
    routes: z.array(z.object({ tradeType: z.string(), routeType: z.string() })).min(1),
  }),
  z.object({ code: z.string() }),
]);

export interface AnswerKind {
  /** `split`, `direct` or `one_hop` with the trade type, or the reason why there is no plan in brackets. */
  readonly name: string;
  /** 0 without a plan. */
  readonly candidates: number;
}

/** Body of a request between any two tokens, in either trade type. */
export function randomOrder({ tokens }: BenchMarket, random: Random): string {
  const first = random.integer(0, tokens.length - 1);
  const second = (first + random.integer(1, tokens.length - 1)) % tokens.length;
  return orderBetween(tokens[first], tokens[second], random, random.chance(50));
}

/** Body of a request for 0.3 to 3,000 whole tokens: as what is given, or as what is received. */
export function orderBetween(
  tokenIn: PoolToken | undefined,
  tokenOut: PoolToken | undefined,
  random: Random,
  isExactIn = true,
): string {
  const decimals = (isExactIn ? tokenIn : tokenOut)?.decimals ?? 18;
  const milli = BigInt(Math.floor(10 ** (2.5 + random.fraction() * 4)));
  const amount = ((milli * 10n ** BigInt(decimals)) / 1_000n).toString();
  const amounts = isExactIn ? { amountIn: amount } : { amountOut: amount };
  return JSON.stringify({ tokenIn: tokenIn?.address, tokenOut: tokenOut?.address, ...amounts });
}

/** @throws Error for an answer that is neither a plan nor a reason why there is none */
export function kindOfAnswer(status: number, text: string): AnswerKind {
  const answer = Answer.safeParse(JSON.parse(text)).data;
  if (!answer) throw new Error(`unexpected answer ${status}: ${text}`);
  if ('code' in answer) return { name: `(${answer.code})`, candidates: 0 };
  const [route] = answer.routes;
  const shape = answer.routes.length > 1 ? 'split' : route?.routeType;
  return { name: `${shape}, ${route?.tradeType}`, candidates: answer.candidatesConsidered };
}
