import type { ChainConfig } from '../../config/chains-schema.ts';
import { type Chain, type ChainDeps, openChain } from '../../quoting/open-chain.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import { createLogger } from '../../runtime/logger.ts';
import { eagerQuotes } from './quote-world.ts';

/** Chains as the API quotes them, by id. Nothing is read ahead of requests. */
export function quotedChains(
  configs: readonly ChainConfig[],
  directory: PoolDirectory,
  { quotes = eagerQuotes, ...options }: Partial<ChainDeps> = {},
): ReadonlyMap<number, Chain> {
  const deps: ChainDeps = {
    countCall: () => undefined,
    logger: createLogger('test', 'silent'),
    ...options,
    quotes: { ...quotes, warmSecs: 0 },
    directory,
  };
  return new Map(configs.map((config) => [config.chainId, openChain(config, deps)]));
}
