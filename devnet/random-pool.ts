import fc from 'fast-check';
import { type Address, numberToHex } from 'viem';
import { Q64 } from '../protocol/fixed-point.ts';
import type { BinShape } from '../protocol/pool-events.ts';
import { addLiquidity, balanceOf, deployToken, fundAccounts, swap } from './actions.ts';
import type { Deployment } from './deploy.ts';
import type { DevChain } from './dev-chain.ts';
import { createPool } from './pools.ts';
import { deployManualProvider, type PricedPair } from './providers.ts';

/** Everything that makes a random pool what it is. */
export interface PoolRecipe {
  readonly decimals0: number;
  readonly decimals1: number;
  /** Provider's quote, token1 per whole token0, Q64.64. */
  readonly bidX64: bigint;
  readonly askX64: bigint;
  /** Shape of each bin and its shares; 0 leaves it empty. 10^18 shares are worth a whole token0. */
  readonly bins: readonly (BinShape & { readonly shares: bigint })[];
  readonly curBinDistFromProvidedPriceE6: number;
  readonly adminSpreadFeeE6: number;
  readonly adminNotionalFeeE8: number;
  /** Swaps that bring the cursor somewhere: part of the pool's output balance, in thousandths. */
  readonly moves: readonly { readonly zeroForOne: boolean; readonly partE3: number }[];
}

export interface RandomPool extends PricedPair {
  readonly address: Address;
  readonly provider: Address;
  readonly recipe: PoolRecipe;
}

/** Tokens of every decimals that pools are made of, two of each, with funded accounts. */
export type TokenShelf = ReadonlyMap<number, readonly [Address, Address]>;

const DECIMALS = [6, 8, 18] as const;
const FORTUNE = 10n ** 36n;

/** Deploys the tokens that random pools share, and funds trader and provider. */
export async function stockTokens(
  chain: DevChain,
  deployment: Pick<Deployment, 'swapRouter' | 'liquidityAdder'>,
): Promise<TokenShelf> {
  const shelf = new Map<number, readonly [Address, Address]>();
  const accounts = [chain.roles.trader, chain.roles.provider];
  for (const decimals of DECIMALS) {
    const pair: Address[] = [];
    for (const letter of ['A', 'B']) {
      const symbol = `${letter}${decimals}`;
      const token = await deployToken(chain, { name: `Random ${symbol}`, symbol, decimals });
      await fundAccounts(chain, deployment, token, { accounts, amount: FORTUNE });
      pair.push(token);
    }
    const [first, second] = pair;
    if (first !== undefined && second !== undefined) shelf.set(decimals, [first, second]);
  }
  return shelf;
}

const bin = fc.record({
  lengthE6: fc.oneof(fc.integer({ min: 1, max: 65_535 }), fc.integer({ min: 500, max: 20_000 })),
  addFeeBuyE6: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 65_535 })),
  addFeeSellE6: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 65_535 })),
  shares: fc.oneof({ weight: 1, arbitrary: fc.constant(0n) }, { weight: 6, arbitrary: magnitude(1_000n, 10n ** 24n) }),
});

/** Numbers of all sizes between two bounds: each size is as likely as any other. */
function magnitude(min: bigint, max: bigint): fc.Arbitrary<bigint> {
  const bits = max.toString(2).length;
  return fc
    .tuple(fc.integer({ min: min.toString(2).length, max: bits }), fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }))
    .map(([size, noise]) => {
      const value = (1n << BigInt(size - 1)) | (noise & ((1n << BigInt(size - 1)) - 1n));
      return value < min ? min : value > max ? max : value;
    });
}

/** Pools of all kinds: decimals in both orders, uneven bins, empty bins, fees, prices from 10^-6 to 10^6. */
export const poolRecipe: fc.Arbitrary<PoolRecipe> = fc
  .record({
    decimals0: fc.constantFrom(...DECIMALS),
    decimals1: fc.constantFrom(...DECIMALS),
    midX64: magnitude(Q64 / 10n ** 6n, Q64 * 10n ** 6n),
    halfSpreadE6: fc.integer({ min: 1, max: 10_000 }),
    up: fc.array(bin, { minLength: 1, maxLength: 6 }),
    down: fc.array(bin, { minLength: 0, maxLength: 6 }),
    curBinDistFromProvidedPriceE6: fc.integer({ min: -20_000, max: 20_000 }),
    adminSpreadFeeE6: fc.integer({ min: 0, max: 500_000 }),
    adminNotionalFeeE8: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_000_000 })),
    moves: fc.array(fc.record({ zeroForOne: fc.boolean(), partE3: fc.integer({ min: 1, max: 1_000 }) }), {
      maxLength: 3,
    }),
  })
  .map(({ midX64, halfSpreadE6, up, down, ...rest }) => ({
    ...rest,
    bidX64: (midX64 * BigInt(1_000_000 - halfSpreadE6)) / 1_000_000n,
    askX64: (midX64 * BigInt(1_000_000 + halfSpreadE6)) / 1_000_000n + 1n,
    bins: [
      ...down.map((shape, index) => ({ ...shape, bin: -1 - index })),
      ...up.map((shape, index) => ({ ...shape, bin: index })),
    ].sort((a, b) => a.bin - b.bin),
  }));

let poolsMade = 0;

/** Makes the pool of a recipe, with its liquidity, and moves its cursor. */
export async function createRandomPool(
  chain: DevChain,
  deployment: Deployment,
  shelf: TokenShelf,
  recipe: PoolRecipe,
): Promise<RandomPool> {
  const token0 = shelf.get(recipe.decimals0)?.[0];
  const token1 = shelf.get(recipe.decimals1)?.[1];
  if (token0 === undefined || token1 === undefined) throw new Error('no token of these decimals on the shelf');
  const provider = await deployManualProvider(chain, { token0, token1 }, recipe);
  const initialAmount1 = (recipe.bidX64 * 10n ** BigInt(recipe.decimals1)) / Q64;
  const address = await createPool(chain, deployment, {
    token0,
    token1,
    priceProvider: provider,
    bins: recipe.bins,
    initialAmount0PerShareE18: 10n ** BigInt(recipe.decimals0),
    initialAmount1PerShareE18: initialAmount1 > 0n ? initialAmount1 : 1n,
    adminSpreadFeeE6: recipe.adminSpreadFeeE6,
    adminNotionalFeeE8: recipe.adminNotionalFeeE8,
    curBinDistFromProvidedPriceE6: recipe.curBinDistFromProvidedPriceE6,
    salt: numberToHex(++poolsMade, { size: 32 }),
  });
  const funded = recipe.bins.filter(({ shares }) => shares > 0n);
  if (funded.length > 0) {
    await addLiquidity(chain, deployment, { pool: address, owner: chain.roles.provider, bins: funded });
  }
  for (const move of recipe.moves) {
    const held = await balanceOf(chain, move.zeroForOne ? token1 : token0, address);
    const part = (held * BigInt(move.partE3)) / 1_000n;
    if (part > 0n) {
      await swap(chain, deployment, { pool: address, zeroForOne: move.zeroForOne, amountSpecified: -part });
    }
  }
  return { address, token0, token1, provider, recipe };
}
