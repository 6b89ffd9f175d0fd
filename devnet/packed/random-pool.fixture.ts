import fc from 'fast-check';
import { type Address, numberToHex } from 'viem';
import { addLiquidity } from '../actions.ts';
import { type Anvil, startAnvil } from '../anvil.ts';
import { connectDevChain, type DevChain } from '../dev-chain.ts';
import { createPool } from '../pools.ts';
import { type PoolRecipe, poolRecipe, stockTokens, type TokenShelf } from '../random-pool.ts';
import { deployPackedProtocol, type PackedDeployment } from './deploy.ts';
import { deployQuoteProvider, type PackedQuote, type QuoteProviderKind } from './providers.ts';
import type { PackedVariant } from './variants.ts';

/** A node with one variant and tokens on it. */
export interface PackedSetup {
  readonly chain: DevChain;
  readonly deployment: PackedDeployment;
  readonly shelf: TokenShelf;
}

export type PackedRecipe = Omit<PoolRecipe, 'moves'> & PackedQuote;

export interface PackedPool {
  readonly address: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly provider: Address;
  readonly recipe: PackedRecipe;
}

/** Runs an action with a fresh node, and one ground on it for each variant. */
export async function startPackedSetup(variant: PackedVariant): Promise<PackedSetup & { readonly anvil: Anvil }> {
  const anvil = await startAnvil({ chainId: 31_337 });
  const chain = await connectDevChain(anvil.url);
  const deployment = await deployPackedProtocol(chain, variant);
  return { anvil, chain, deployment, shelf: await stockTokens(chain, deployment) };
}

/** Pools of all kinds, with a reference anywhere between bid and ask; in some the three are one. */
export const packedRecipe: fc.Arbitrary<PackedRecipe> = fc
  .tuple(poolRecipe, fc.oneof(fc.integer({ min: 0, max: 1_000_000 }), fc.constant(undefined)))
  .map(([{ moves: _, ...recipe }, partE6]) => {
    if (partE6 === undefined) return { ...recipe, askX64: recipe.bidX64, referenceX64: recipe.bidX64 };
    const referenceX64 = recipe.bidX64 + ((recipe.askX64 - recipe.bidX64) * BigInt(partE6)) / 1_000_000n;
    return { ...recipe, referenceX64 };
  });

let poolsMade = 0;

/** Scaled units per raw unit of token0 and token1. */
export function multipliers({ decimals0, decimals1 }: PackedRecipe): readonly [bigint, bigint] {
  return [10n ** BigInt(18 - decimals0), 10n ** BigInt(18 - decimals1)];
}

/** Scaled amounts per 10^18 shares of an empty bin: a whole token0, or what it is worth. */
export function initialAmounts({ bidX64 }: PackedRecipe): readonly [bigint, bigint] {
  const value = (bidX64 * 10n ** 18n) >> 64n;
  return [10n ** 18n, value > 0n ? value : 1n];
}

/** Makes the pool of a recipe, and its liquidity. */
export async function createPackedPool(
  { chain, deployment, shelf }: PackedSetup,
  recipe: PackedRecipe,
  kind?: QuoteProviderKind,
): Promise<PackedPool> {
  const token0 = shelf.get(recipe.decimals0)?.[0];
  const token1 = shelf.get(recipe.decimals1)?.[1];
  if (token0 === undefined || token1 === undefined) throw new Error('no token of these decimals on the shelf');
  const { bidX64, askX64, referenceX64 } = recipe;
  const quote = { bidX64, askX64, referenceX64 };
  const provider = await deployQuoteProvider(chain, deployment, { token0, token1, kind }, quote);
  const [initialAmount0PerShareE18, initialAmount1PerShareE18] = initialAmounts(recipe);
  const address = await createPool(chain, deployment, {
    token0,
    token1,
    priceProvider: provider,
    bins: recipe.bins,
    initialAmount0PerShareE18,
    initialAmount1PerShareE18,
    adminSpreadFeeE6: recipe.adminSpreadFeeE6,
    adminNotionalFeeE8: recipe.adminNotionalFeeE8,
    curBinDistFromProvidedPriceE6: recipe.curBinDistFromProvidedPriceE6,
    salt: numberToHex(++poolsMade, { size: 32 }),
  });
  const bins = recipe.bins.filter(({ shares }) => shares > 0n);
  if (bins.length > 0) await addLiquidity(chain, deployment, { pool: address, owner: chain.roles.provider, bins });
  return { address, token0, token1, provider, recipe };
}
