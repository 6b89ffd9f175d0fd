import { type Address, decodeErrorResult, encodeAbiParameters, type Hex, keccak256, numberToHex } from 'viem';
import { administer, extsload, type SwapAmounts, type SwapOrder, simulateSwap } from './actions.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { type Deployment, deployProtocol } from './deploy.ts';
import { connectDevChain, type DevChain } from './dev-chain.ts';
import { poolErrors } from './protocol-abi.ts';
import { createRandomPool, type PoolRecipe, type RandomPool, stockTokens, type TokenShelf } from './random-pool.ts';

/** A node with the protocol and tokens on it, for tests of the contracts. */
export interface Setup {
  readonly anvil: Anvil;
  readonly chain: DevChain;
  readonly deployment: Deployment;
  readonly shelf: TokenShelf;
}

export async function startSetup(): Promise<Setup> {
  const anvil = await startAnvil({ chainId: 31_337 });
  const deployment = await deployProtocol(anvil.url, 31_337);
  const chain = await connectDevChain(anvil.url);
  return { anvil, chain, deployment, shelf: await stockTokens(chain, deployment) };
}

export function poolOf({ chain, deployment, shelf }: Setup, recipe: PoolRecipe): Promise<RandomPool> {
  return createRandomPool(chain, deployment, shelf, recipe);
}

/** Takes the protocol's notional fee off a pool. */
export async function dropProtocolFee({ chain, deployment }: Setup, pool: Address): Promise<void> {
  await administer(chain, deployment, {
    from: chain.roles.owner,
    functionName: 'setPoolProtocolFee',
    args: [pool, 200_000, 0],
  });
}

/** Amounts of a simulated swap at the recipe's quote, or the name of the pool's error. */
export async function simulate(
  { chain }: Setup,
  { address, recipe }: RandomPool,
  order: Omit<SwapOrder, 'pool'>,
): Promise<SwapAmounts | string> {
  const { bidX64, askX64 } = recipe;
  return decodeSimulation(await simulateSwap(chain, { ...order, pool: address, bidX64, askX64 }));
}

export function decodeSimulation(data: Hex): SwapAmounts | string {
  const error = decodeErrorResult({ abi: poolErrors, data });
  if (error.errorName !== 'SimulateSwap') return error.errorName;
  const [amount0Delta, amount1Delta] = error.args;
  return { amount0Delta, amount1Delta };
}

/** A pool's words by what they mean, cut out of storage by the test itself. */
export interface PoolWords {
  readonly pauseLevel: bigint;
  readonly bin: bigint;
  readonly position: bigint;
  readonly distanceE6: bigint;
  readonly spreadFeeE6: bigint;
  readonly notionalFeeE8: bigint;
  readonly total0: bigint;
  readonly total1: bigint;
  readonly notional0: bigint;
  readonly notional1: bigint;
  readonly provider: bigint;
  readonly bins: ReadonlyMap<bigint, BinWords>;
}

export interface BinWords {
  readonly balance0: bigint;
  readonly balance1: bigint;
  readonly lengthE6: bigint;
  readonly addFeeBuyE6: bigint;
  readonly addFeeSellE6: bigint;
  readonly shares: bigint;
}

/** Reads all of a pool's storage that its bins and head occupy. */
export async function readWords({ chain }: Setup, { address, recipe }: RandomPool): Promise<PoolWords> {
  const indexes = recipe.bins.map(({ bin }) => BigInt(bin));
  const slots = [0n, 1n, 2n, 3n].map((slot) => numberToHex(slot, { size: 32 }));
  const binSlots = indexes.flatMap((index) => [mappingSlot(index, 4n), mappingSlot(index, 5n)]);
  const words = (await extsload(chain, address, [...slots, ...binSlots])).map(BigInt);
  const word = (index: number): bigint => words[index] ?? 0n;
  const bins = indexes.map((index, n) => [index, binWords(word(4 + 2 * n), word(5 + 2 * n))] as const);
  return {
    pauseLevel: cut(word(0), 0n, 8n),
    bin: BigInt.asIntN(8, cut(word(0), 8n, 8n)),
    position: cut(word(0), 16n, 104n),
    distanceE6: BigInt.asIntN(24, cut(word(0), 120n, 24n)),
    spreadFeeE6: cut(word(0), 144n, 24n),
    notionalFeeE8: cut(word(0), 168n, 24n),
    total0: cut(word(1), 0n, 128n),
    total1: cut(word(1), 128n, 128n),
    notional0: cut(word(2), 0n, 128n),
    notional1: cut(word(2), 128n, 128n),
    provider: word(3),
    bins: new Map(bins),
  };
}

function binWords(word: bigint, shares: bigint): BinWords {
  return {
    balance0: cut(word, 0n, 104n),
    balance1: cut(word, 104n, 104n),
    lengthE6: cut(word, 208n, 16n),
    addFeeBuyE6: cut(word, 224n, 16n),
    addFeeSellE6: cut(word, 240n, 16n),
    shares,
  };
}

function cut(word: bigint, offset: bigint, bits: bigint): bigint {
  return (word >> offset) & ((1n << bits) - 1n);
}

export function mappingSlot(key: bigint, slot: bigint): Hex {
  return keccak256(encodeAbiParameters([{ type: 'int256' }, { type: 'uint256' }], [key, slot]));
}

/** Scaled units per raw unit of token0 and token1. */
export function multipliers({ decimals0, decimals1 }: PoolRecipe): readonly [bigint, bigint] {
  return [10n ** BigInt(18 - decimals0), 10n ** BigInt(18 - decimals1)];
}
