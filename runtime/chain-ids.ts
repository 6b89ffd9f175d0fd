import type { ChainConfig } from '../config/chains-schema.ts';
import { ConfigError } from '../config/config-error.ts';

const TIMEOUT_MS = 2_000;
const REQUEST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });

type ChainNodes = Pick<ChainConfig, 'chainId' | 'rpcUrls'>;

/**
 * Asks every node for its chain id. Contracts may have the same addresses on several chains, so that the prices of a node
 * of another chain would look right. A node that does not answer now is no error: it may answer later.
 *
 * @throws ConfigError one line that names the chain and the host of a node of another chain
 */
export async function refuseOtherChains(chains: readonly ChainNodes[]): Promise<void> {
  await Promise.all(chains.flatMap(({ chainId, rpcUrls }) => rpcUrls.map((url) => refuseOtherChain(chainId, url))));
}

async function refuseOtherChain(chainId: number, url: string): Promise<void> {
  const answered = await chainIdOf(url);
  if (answered === null || answered === BigInt(chainId)) return;
  throw new ConfigError(
    `CHAINS_CONFIG: chain ${chainId}: the node at ${new URL(url).host} answers with chain id ${answered}: give the URL of a node of chain ${chainId}`,
  );
}

/** Null when the node does not answer, or with something else. */
async function chainIdOf(url: string): Promise<bigint | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: REQUEST,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { result } = (await response.json()) as { result?: unknown };
    return typeof result === 'string' ? BigInt(result) : null;
  } catch {
    return null; // Unreachable or busy: later calls report it.
  }
}
