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
import { isRefusal } from '../rpc-failure.ts';
import { creationBlock, makerOf } from './creation.ts';

/** A contract around the pools of a factory that has the code or the events of a standard one. */
export interface FoundContract {
  readonly address: Address;
  /** A role of an extension, or what a factory of providers makes. */
  readonly role: ExtensionRole | ProviderKind;
  /** The account that made it; null when that is not known. */
  readonly maker: Address | null;
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
  readonly extensions: readonly Address[];
  /** Providers of its pools, the newest first. */
  readonly providers: readonly Address[];
}

/** Providers whose creation is looked for one by one, where nodes refuse to search all blocks. */
const MAX_SEARCHED_PROVIDERS = 24;
/** Anyone may announce a provider of somebody else. */
const MAX_PROVIDER_FACTORIES = 64;

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
): Promise<FoundContract[]> {
  const { block } = await rpc.head();
  const candidates: Pick<FoundContract, 'address' | 'role'>[] = [];
  for (const address of extensions) {
    const role = roleInCode(await rpc.code(address, 'latest'), layout);
    if (role) candidates.push({ address, role });
  }
  candidates.push(...(await providerFactories(rpc, providers, block.number)));
  const found: FoundContract[] = [];
  for (const candidate of candidates) {
    const created = await creationBlock(rpc, candidate.address, block.number);
    const madeBy = created === null ? null : await makerOf(rpc, candidate.address, created);
    found.push({ ...candidate, maker: madeBy, isProven: madeBy !== null && madeBy === maker });
  }
  return found;
}

/** The contracts that announced these providers. */
async function providerFactories(rpc: ChainRpc, providers: readonly Address[], head: bigint) {
  if (providers.length === 0) return [];
  const logs = await announcements(rpc, providers, 0n, head).catch((error) => {
    if (isRefusal(error)) return searchedAnnouncements(rpc, providers.slice(0, MAX_SEARCHED_PROVIDERS), head);
    throw error;
  });
  const roles = new Map(
    logs.map(({ address, topics: [topic] }) => [address, PROVIDER_TOPICS.get(topic) as ProviderKind]),
  );
  return [...roles].slice(0, MAX_PROVIDER_FACTORIES).map(([address, role]) => ({ address, role }));
}

/** For nodes that bound the blocks of a search: finds the block of each provider first. */
async function searchedAnnouncements(rpc: ChainRpc, providers: readonly Address[], head: bigint) {
  const logs: z.infer<typeof Logs> = [];
  for (const provider of providers) {
    const created = await creationBlock(rpc, provider, head);
    if (created === null) return logs;
    logs.push(...(await announcements(rpc, [provider], created, created)));
  }
  return logs;
}

function announcements(rpc: ChainRpc, providers: readonly Address[], from: bigint, to: bigint) {
  const named: Hex[] = providers.map((provider) => pad(provider));
  const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
  const filter = { ...range, topics: [[...PROVIDER_TOPICS.keys()], named] };
  return rpc.request('eth_getLogs', [filter], (result) => Logs.parse(result));
}
