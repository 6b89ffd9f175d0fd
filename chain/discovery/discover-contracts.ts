import { type Address, type Hex, numberToHex, pad } from 'viem';
import { z } from 'zod';
import { HexAddress, HexBytes32 } from '../../config/scalars.ts';
import {
  type ExtensionRole,
  PROVIDER_TOPICS,
  type ProviderKind,
  roleInCode,
} from '../../protocol/layouts/contract-roles.ts';
import type { ChainRpc } from '../chain-rpc.ts';
import { isRefusal, RpcFailure } from '../rpc-failure.ts';
import { findCreation, madeBy } from './creation.ts';

/** A contract around the pools of a factory that has the code or the events of a standard one. */
export interface FoundContract {
  readonly address: Address;
  /** A role of an extension, or what a factory of providers makes. */
  readonly role: ExtensionRole | ProviderKind;
  /**
   * Whether the account that made the pool factory made it, too. Any other contract may look the same and do something
   * else: pools that use it are to be treated as if it were unknown.
   */
  readonly isProven: boolean;
}

/** A pool factory and what its pools name. */
export interface FactoryContracts {
  readonly layout: string;
  /** The account that made the pool factory; null when that is not known: nothing is proven then. */
  readonly maker: Address | null;
  /** Extensions and providers of its pools; the first are looked at first. */
  readonly extensions: readonly Address[];
  readonly providers: readonly Address[];
}

/** What was found, and how many providers nodes did not show the factory of, or not in time. */
export interface Discovery {
  readonly contracts: readonly FoundContract[];
  readonly unsearchedProviders: number;
}

/** Pools of anybody may name any number of contracts: so many extensions are looked at that nothing proves. */
const MAX_UNPROVEN = 16;
/** Providers whose creation is searched, 26 calls each, where nodes do not search all blocks at once. */
const MAX_SEARCHES = 16;

const Logs = z.array(z.object({ address: HexAddress, topics: z.tuple([HexBytes32]).rest(HexBytes32) }));

/**
 * Finds the standard extensions and the factories of providers that pools of a factory use: by their code and events,
 * and by who made them.
 *
 * @throws RpcFailure when no node answers
 */
export async function discoverContracts(
  rpc: ChainRpc,
  { layout, maker, extensions, providers }: FactoryContracts,
): Promise<Discovery> {
  const made: ReadonlySet<Address> = maker === null ? new Set() : await madeBy(rpc, maker);
  const unproven = extensions.filter((address) => !made.has(address)).slice(0, MAX_UNPROVEN);
  const looked = [...extensions.filter((address) => made.has(address)), ...unproven];
  const codes = await Promise.all(looked.map((address) => rpc.code(address, { block: 'latest' })));
  const { factories, unsearchedProviders } = await providerFactories(rpc, providers);
  const candidates = [
    ...looked.map((address, at) => [address, roleInCode(codes[at] ?? '0x', layout)] as const),
    ...factories,
  ];
  const contracts = candidates.flatMap(([address, role]) =>
    role ? [{ address, role, isProven: made.has(address) }] : [],
  );
  return { contracts, unsearchedProviders };
}

/** The contracts that announced these providers, with what they make. */
async function providerFactories(rpc: ChainRpc, providers: readonly Address[]) {
  if (providers.length === 0) return { factories: [], unsearchedProviders: 0 };
  const { block } = await rpc.head();
  const search = (provider: Address) => searchedAnnouncements(rpc, provider, block.number);
  const all = await announcements(rpc, providers, 0n, block.number).catch(() => null);
  const searched = all ? [] : await Promise.all(providers.slice(0, MAX_SEARCHES).map(search));
  const logs = all ?? searched.flatMap((each) => each ?? []);
  const factories = new Map(logs.map(({ address, topics: [topic] }) => [address, PROVIDER_TOPICS.get(topic) ?? null]));
  const unsearchedProviders = all ? 0 : providers.length - searched.filter((each) => each !== null).length;
  return { factories: [...factories], unsearchedProviders };
}

/**
 * For nodes that refuse a search of all blocks, or give none in time: finds the block of the provider first.
 *
 * @returns null when nodes do not show it, or not in time
 */
async function searchedAnnouncements(rpc: ChainRpc, provider: Address, head: bigint) {
  try {
    const creation = await findCreation(rpc, provider, head, async (block) => {
      const logs = await announcements(rpc, [provider], block, block);
      return logs.length > 0 ? logs : null;
    });
    return creation && (creation.shown ?? []);
  } catch (error) {
    if (isRefusal(error) || (error instanceof RpcFailure && error.code === 'aborted')) return null;
    throw error;
  }
}

function announcements(rpc: ChainRpc, providers: readonly Address[], from: bigint, to: bigint) {
  const named: Hex[] = providers.map((provider) => pad(provider));
  const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
  const filter = { ...range, topics: [[...PROVIDER_TOPICS.keys()], named] };
  return rpc.request('eth_getLogs', [filter], (result) => Logs.parse(result));
}
