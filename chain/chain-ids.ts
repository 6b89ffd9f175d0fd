import type { ChainConfig } from '../config/chains-schema.ts';
import { ConfigError } from '../config/config-error.ts';
import { RpcEndpoint } from './rpc-endpoint.ts';

const TIMEOUT_MS = 2_000;

type ChainNodes = Pick<ChainConfig, 'chainId' | 'rpcUrls'>;

/**
 * Checks that every node is one of its chain, by its chain id. Contracts may have the same addresses on several chains,
 * so prices from a node of another chain would look right. A node that does not answer is not an error: it may answer
 * later.
 *
 * @throws ConfigError one line that names the chain and the host of a node of another chain
 */
export async function assertChainIds(chains: readonly ChainNodes[]): Promise<void> {
  await Promise.all(chains.flatMap(({ chainId, rpcUrls }) => rpcUrls.map((url) => assertChainId(chainId, url))));
}

async function assertChainId(chainId: number, url: string): Promise<void> {
  const endpoint = new RpcEndpoint(url, { timeoutMs: TIMEOUT_MS, count: () => undefined });
  const answered = await endpoint.request('eth_chainId', []).catch(() => null); // Later calls report it.
  if (typeof answered !== 'string' || Number(answered) === chainId) return;
  throw new ConfigError(
    `CHAINS_CONFIG: chain ${chainId}: the node at ${endpoint.label} answers with chain id ${Number(answered)}: give the URL of a node of chain ${chainId}`,
  );
}
