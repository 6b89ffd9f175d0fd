import type { z } from 'zod';
import type { ChainsFile } from '../../config/chains-schema.ts';
import { stillQuotes } from '../quotes/quote-world.ts';
import type { SeededChain } from './pool-groups.ts';

const BLOCK_TIME_MS = 1_000;
const BASE_USD = 2_000;

/** The chains file of a process that reaches the nodes at these URLs. @param warmSecs default: as by default */
export function chainsFile<T extends SeededChain>(
  chains: readonly T[],
  urlOf: (chain: T) => string,
  warmSecs?: number,
): z.input<typeof ChainsFile> {
  const priced = chains.flatMap(({ chainId, pairs }) =>
    pairs.flatMap(({ token0, token1 }) => [
      [`${chainId}:${token0}`, BASE_USD],
      [`${chainId}:${token1}`, 1],
    ]),
  );
  return {
    chains: chains.map((chain) => {
      const { poolFactory, poolDeployer, stopLoss } = chain.world.deployment;
      return {
        chainId: chain.chainId,
        name: `chain-${chain.chainId}`,
        rpcUrls: [urlOf(chain)],
        blockTimeMs: BLOCK_TIME_MS,
        deployments: [{ contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory, poolDeployer, stopLoss }],
      };
    }),
    fiatPrices: { source: 'static', prices: Object.fromEntries(priced) },
    limits: { enabled: false },
    quotes: warmSecs === undefined ? stillQuotes : { ...stillQuotes, warmSecs },
  };
}
