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
import { creationBlock, madeBy, makerOf } from './creation.ts';

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
  /** Extensions and providers of its pools; the first are looked at first. */
  readonly extensions: readonly Address[];
  readonly providers: readonly Address[];
}

/** Contracts whose creation is searched, 26 calls each: pools of anybody may name any number of them. */
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
): Promise<FoundContract[]> {
  const { block } = await rpc.head();
  const candidates: Pick<FoundContract, 'address' | 'role'>[] = [];
  for (const address of extensions) {
    const role = roleInCode(await rpc.code(address, 'latest'), layout);
    if (role) candidates.push({ address, role });
  }
  candidates.push(...(await providerFactories(rpc, providers, block.number)));
  const children = maker === null ? new Set() : await madeBy(rpc, maker);
  const found: FoundContract[] = [];
  let searches = 0;
  for (const candidate of candidates) {
    const isChild = children.has(candidate.address);
    const isSearched = !isChild && ++searches <= MAX_SEARCHES;
    const account = isChild ? maker : isSearched ? await searchMaker(rpc, candidate.address, block.number) : null;
    found.push({ ...candidate, maker: account, isProven: account !== null && account === maker });
  }
  return found;
}

async function searchMaker(rpc: ChainRpc, address: Address, head: bigint): Promise<Address | null> {
  const created = await creationBlock(rpc, address, head);
  return created === null ? null : makerOf(rpc, address, created);
}

/** The contracts that announced these providers. */
async function providerFactories(rpc: ChainRpc, providers: readonly Address[], head: bigint) {
  if (providers.length === 0) return [];
  const search = () => searchedAnnouncements(rpc, providers.slice(0, MAX_SEARCHES), head);
  const logs = await announcements(rpc, providers, 0n, head).catch(search);
  const roles = new Map(
    logs.map(({ address, topics: [topic] }) => [address, PROVIDER_TOPICS.get(topic) as ProviderKind]),
  );
  return [...roles].map(([address, role]) => ({ address, role }));
}

/** For nodes that refuse a search of all blocks, or give none in time: finds the block of each provider first. */
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
