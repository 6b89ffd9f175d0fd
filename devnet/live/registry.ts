import { type Address, concatHex, type Hex, keccak256, numberToHex, parseAbi, zeroHash } from 'viem';
import { deployContract } from '../deploy.ts';
import type { DevChain } from '../dev-chain.ts';
import type { PricedPair } from '../providers.ts';

export const priceRegistryAbi = parseAbi([
  'function register(bytes32 feedId)',
  'function update(bytes32 feedId, uint256 stamp, uint128 bidX64, uint128 askX64)',
  'function feeds(bytes32 feedId) view returns (uint256 stamp, uint128 bidX64, uint128 askX64, address maker)',
  'error FeedTaken(bytes32 feedId)',
  'error OnlyMaker()',
]);

/** Token1 per whole token0, Q64.64. */
export interface FeedPrice {
  readonly bidX64: bigint;
  readonly askX64: bigint;
}

/** Storage words of one account by slot, 32 bytes each. */
export type StateDiff = Readonly<Record<Hex, Hex>>;

/**
 * What an update writes into the storage of the registry: the stamp into the feed's first word,
 * bid and ask into the second.
 *
 * @param stampSecs time of the block that the price is for, Unix seconds
 */
export function feedWords(feedId: Hex, stampSecs: bigint, { bidX64, askX64 }: FeedPrice): StateDiff {
  const first = BigInt(keccak256(concatHex([feedId, zeroHash])));
  return { [word(first)]: word(stampSecs), [word(first + 1n)]: word((askX64 << 128n) | bidX64) };
}

const word = (value: bigint): Hex => numberToHex(value, { size: 32 });

/** Deploys a registry without feeds. */
export function deployRegistry(chain: DevChain): Promise<Address> {
  return deployContract(chain, 'PriceRegistry');
}

/**
 * Deploys a provider that quotes a feed in the block of its stamp, and otherwise reverts with `FeedStalled`.
 *
 * @param poolFactory of either layout: the provider answers its pools alone
 */
export function deployRegistryProvider(
  chain: DevChain,
  { poolFactory }: { readonly poolFactory: Address },
  spec: PricedPair & { readonly registry: Address; readonly feedId: Hex },
): Promise<Address> {
  return deployContract(chain, 'RegistryProvider', [spec.token0, spec.token1, poolFactory, spec.registry, spec.feedId]);
}
