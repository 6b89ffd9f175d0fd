import type { Hono } from 'hono';
import type { Side } from '../../client/math.ts';
import { evenBins } from '../../devnet/pools.ts';
import { inProcessClient } from '../harness/in-process-client.ts';
import { evenShares, makePool, type QuoteWorld, SHARES_OF_ONE, type WorldPool } from '../quotes/quote-world.ts';
import { estimateFill, type QuoteLevel } from '../route/spec-walk.ts';

/**
 * A side of a pool, and exact inputs: what interpolated volume and interpolated prices promise,
 * and what the chain pays.
 */
export interface PriceWalk {
  readonly side: Side;
  /** `bidAdj` or `askAdj`. Both tokens have 18 decimals. */
  readonly bestPrice: string;
  readonly levels: readonly PricedLevel[];
  readonly cases: readonly {
    readonly amountIn: string;
    readonly byVolume: string;
    readonly byPrice: string;
    readonly executed: string;
  }[];
}

type PricedLevel = QuoteLevel & { readonly price: string };
type Execute = (side: Side, amountIn: bigint) => Promise<bigint>;

const BINS = 8;
const BIN_LENGTH_E6 = 10_000;
const CASES = 16;

/** A pool of eight bins of 1% on either side. */
export const makeWidePool = async (world: QuoteWorld): Promise<WorldPool> =>
  makePool(world, {
    pair: await world.pair(18, 18),
    price: 3_000,
    bins: evenBins(-BINS, BINS, BIN_LENGTH_E6),
    shares: evenShares(-BINS, BINS, SHARES_OF_ONE),
    notionalFeeE8: 5_000,
  });

/** Walks both sides of a pool, at equal steps of the input. */
export async function makePriceWalks(app: Hono, chainId: number, pool: string, execute: Execute): Promise<PriceWalk[]> {
  const params = { path: { chain_id: chainId, pool_address: pool } };
  const { data } = await inProcessClient(app).GET('/public/v1/evm/{chain_id}/{pool_address}/bid_ask', { params });
  if (!data?.depth) throw new Error(`${pool} has no depth`);
  const { depth, bidAdj, askAdj } = data;
  const walks: PriceWalk[] = [];
  for (const side of ['bids', 'asks'] as const) {
    const levels = depth[side].map(({ price, cumulativeVolume, cumulativeInputVolume }) => ({
      price,
      cumulativeVolume,
      cumulativeInputVolume,
    }));
    const bestPrice = side === 'bids' ? bidAdj : askAdj;
    const maxIn = BigInt(levels.at(-1)?.cumulativeInputVolume ?? 0);
    const cases: PriceWalk['cases'][number][] = [];
    for (let step = 1n; step < CASES; step++) {
      const amountIn = (maxIn * step) / BigInt(CASES);
      cases.push({
        amountIn: String(amountIn),
        byVolume: String(estimateFill(levels, 'input', amountIn)?.output),
        byPrice: String(walkPrices(side, BigInt(bestPrice), levels, amountIn)),
        executed: String(await execute(side, amountIn)),
      });
    }
    walks.push({ side, bestPrice, levels, cases });
  }
  return walks;
}

/**
 * Takes the price to move evenly within a level, and the input of a level from its output and `price`, as public takers
 * do that do not read `cumulativeInputVolume`.
 */
function walkPrices(side: Side, bestPrice: bigint, levels: readonly PricedLevel[], amountIn: bigint): bigint | null {
  const Q64 = 2n ** 64n;
  let [from, remaining, weighted, previous] = [bestPrice, amountIn, 0n, 0n];
  for (const { price, cumulativeVolume } of levels) {
    const [to, output] = [BigInt(price), BigInt(cumulativeVolume) - previous];
    previous += output;
    const input = side === 'bids' ? (output * Q64) / to : (output * to) / Q64;
    const used = input < remaining ? input : remaining;
    const end = input === 0n ? to : from + ((to - from) * used) / input;
    weighted += ((from + end) / 2n) * used;
    remaining -= used;
    from = end;
  }
  if (remaining > 0n) return null;
  const average = weighted / amountIn;
  return side === 'bids' ? (amountIn * average) / Q64 : (amountIn * Q64) / average;
}
