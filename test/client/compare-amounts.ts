import { InsufficientDepthError, quoteExactIn, quoteExactOut } from '../../client/math.ts';
import type { Random } from '../../devnet/traffic/random.ts';
import { postRouteText } from '../route/route-app.ts';
import type { FillWorld, MarketSide } from './fill-world.ts';
import { below, resultOf } from './vectors.ts';

export interface Comparison {
  readonly amounts: number;
  /** Of them also asked of the API's route endpoint. */
  readonly routes: number;
  readonly differences: readonly string[];
}

/** What the client's arithmetic says of an amount; null when it exceeds the depth. */
export function mathResult(levels: MarketSide['levels'], exact: 'in' | 'out', amount: bigint): string | null {
  try {
    return String(
      exact === 'in' ? quoteExactIn(levels, amount).amountOutFloor : quoteExactOut(levels, amount).amountInCeil,
    );
  } catch (error) {
    if (error instanceof InsufficientDepthError) return null;
    throw error;
  }
}

/**
 * Compares random amounts on both sides of every pool: the client's arithmetic, the independent implementation, and, of
 * those that fill, a route through that pool.
 */
export async function compareAmounts(world: FillWorld, random: Random, amounts: number): Promise<Comparison> {
  const differences: string[] = [];
  let routes = 0;
  for (let index = 0; index < amounts; index++) {
    const side = random.pick(world.sides);
    const exact = random.chance(50) ? 'in' : 'out';
    const amount = randomAmount(random, side, exact);
    const results = [mathResult(side.levels, exact, amount), resultOf(side, exact, amount)];
    // An input that buys less than a raw unit has no route.
    if (results[0] !== '0') {
      routes += 1;
      results.push(await routeResult(world, side, exact, amount));
    }
    if (new Set(results).size > 1) differences.push(`${side.name} exact ${exact} ${amount}: ${results}`);
  }
  return { amounts, routes, differences };
}

/**
 * Executes an amount and takes it back. The chain may be worse than the client said by a raw unit of either token; one
 * of the input may be worth many of the output.
 *
 * @returns what is worse than that; null for a good execution, and for an amount that need not fill
 */
export async function worseExecution(
  world: FillWorld,
  side: MarketSide,
  exact: 'in' | 'out',
  amount: bigint,
): Promise<string | null> {
  const result = mathResult(side.levels, exact, amount);
  if (result === null || result === '0' || amount === 0n) return null;
  const [paid, received] = await world.execute(side, exact, amount);
  const most = 1n + (exact === 'in' ? amount : BigInt(result));
  const least = exact === 'in' ? BigInt(mathResult(side.levels, 'in', amount - 1n) ?? 0) - 1n : amount;
  if (paid <= most && received >= least) return null;
  return `${side.name} exact ${exact} ${amount}: paid ${paid}, received ${received}, not ${result}`;
}

/** The same of random amounts. @returns what is worse */
export async function worseExecutions(world: FillWorld, random: Random, count: number): Promise<readonly string[]> {
  const worse: string[] = [];
  for (let index = 0; index < count; index++) {
    const side = random.pick(world.sides);
    const exact = random.chance(50) ? 'in' : 'out';
    worse.push((await worseExecution(world, side, exact, randomAmount(random, side, exact))) ?? '');
  }
  return worse.filter(Boolean);
}

/** Of any size, up to a little more than the side takes. */
function randomAmount(random: Random, { levels }: MarketSide, exact: 'in' | 'out'): bigint {
  const last = levels.at(-1);
  const max = BigInt((exact === 'in' ? last?.cumulativeInputVolume : last?.cumulativeVolume) ?? 0);
  const bits = BigInt(random.integer(0, max.toString(2).length - 1));
  return 1n + below(random, (max + max / 50n) >> (random.chance(50) ? 0n : bits));
}

/** A route through one pool; null when the API finds it too shallow. */
async function routeResult({ app }: FillWorld, { pool, side }: MarketSide, exact: 'in' | 'out', amount: bigint) {
  const { token0, token1 } = pool.served;
  const [tokenIn, tokenOut] = side === 'bids' ? [token0, token1] : [token1, token0];
  const asked = {
    tokenIn: tokenIn.address,
    tokenOut: tokenOut.address,
    poolAddress: pool.address,
    ...(exact === 'in' ? { amountIn: String(amount) } : { amountOut: String(amount) }),
  };
  const { status, body } = await postRouteText(app, JSON.stringify(asked));
  const plan = body as { amountIn: string; amountOut: string };
  if (status === 200) return exact === 'in' ? plan.amountOut : plan.amountIn;
  if (status === 422) return null;
  throw new Error(`the route endpoint returned ${status}: ${JSON.stringify(body)}`);
}
