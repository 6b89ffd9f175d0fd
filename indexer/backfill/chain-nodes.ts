import { createPublicClient, fallback, http, type PublicClient } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { NodeUnreachableError } from './node-unreachable.ts';

/** Longest wait for one answer of a node. */
const CALL_TIMEOUT_MS = 10_000;

/** Clients of the chains' nodes: the URLs of a chain are tried in order. */
export class ChainNodes {
  readonly #clients: ReadonlyMap<number, PublicClient>;

  constructor(chains: readonly ChainConfig[]) {
    const clientOf = ({ rpcUrls }: ChainConfig) =>
      createPublicClient({
        cacheTime: 0,
        transport: fallback(rpcUrls.map((url) => http(url, { timeout: CALL_TIMEOUT_MS, retryCount: 1 }))),
      });
    this.#clients = new Map(chains.map((chain) => [chain.chainId, clientOf(chain)]));
  }

  /** Newest block of every chain, by chain id. */
  async heads(): Promise<Map<number, number>> {
    const entries = [...this.#clients.keys()].map(
      async (chainId) => [chainId, Number(await this.ask(chainId, (client) => client.getBlockNumber()))] as const,
    );
    return new Map(await Promise.all(entries));
  }

  /**
   * Puts a question to a chain's nodes.
   *
   * @throws NodeUnreachableError that names the chain and the kind of failure, without the URL, which may hold a key
   */
  async ask<T>(chainId: number, question: (client: PublicClient) => Promise<T>): Promise<T> {
    const client = this.#clients.get(chainId);
    if (client === undefined) throw new RangeError(`chain ${chainId} is not configured`);
    try {
      return await question(client);
    } catch (cause) {
      const kind = cause instanceof Error ? cause.name : 'unknown error';
      throw new NodeUnreachableError(
        `CHAINS_CONFIG: the nodes of chain ${chainId} do not answer as they should (${kind})`,
        {
          cause,
        },
      );
    }
  }
}
