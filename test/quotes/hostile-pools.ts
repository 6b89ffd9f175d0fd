import { type Address, encodeFunctionData, parseAbi } from 'viem';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { send } from '../../devnet/dev-chain.ts';
import { createPool, type ExtensionSpec, evenBins } from '../../devnet/pools.ts';
import { type Pair, priceX64, type QuoteWorld } from './quote-world.ts';

const tokenAbi = parseAbi(['function mint(address to, uint256 amount)']);

/** A pool without liquidity behind this provider. */
export async function poolBehind(
  { chain, deployment }: QuoteWorld,
  pair: Pair,
  priceProvider: Address,
  extensions: readonly ExtensionSpec[] = [],
): Promise<Address> {
  return createPool(chain, deployment, {
    token0: pair.token0,
    token1: pair.token1,
    priceProvider,
    bins: evenBins(-1, 1, 1_000),
    extensions,
    initialAmount0PerShareE18: 10n ** BigInt(pair.decimals0),
    initialAmount1PerShareE18: 10n ** BigInt(pair.decimals1),
    // No two pools of the same settings at one address.
    salt: `0x${(await chain.client.getBlockNumber()).toString(16).padStart(64, '0')}`,
  });
}

/**
 * A pool whose provider burns the gas down to what it needs to quote 2,
 * and before that gives a victim token0 if it has any.
 */
export async function maliciousPool(
  world: QuoteWorld,
  pair: Pair,
  { victim, gift, gasLeft }: { readonly victim: Address; readonly gift: bigint; readonly gasLeft: bigint },
): Promise<Address> {
  const { chain } = world;
  const [bid, ask] = [priceX64(1.999), priceX64(2.001)];
  const provider = await deployContract(chain, 'HostileProvider', [
    pair.token0,
    pair.token1,
    bid,
    ask,
    gasLeft,
    victim,
  ]);
  if (gift > 0n) {
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [provider, gift] });
    await send(chain, { from: chain.roles.owner, to: pair.token0, data });
  }
  return poolBehind(world, pair, provider);
}

/** A pool whose provider burns all the gas it is given. */
export function gasHogPool(world: QuoteWorld, pair: Pair): Promise<Address> {
  return maliciousPool(world, pair, { victim: pair.token0, gift: 0n, gasLeft: 0n });
}

/** From now on this contract burns all the gas it is given. */
export function turnIntoGasHog({ chain }: QuoteWorld, address: Address): Promise<void> {
  return chain.client.setCode({ address, bytecode: loadArtifact('GasHog').deployedBytecode });
}
