import { parseChainsFile } from '../../config/load-chains.ts';

const FACTORY = `0x${'fa'.repeat(20)}`;
const STOP_LOSS = `0x${'51'.repeat(20)}`;

/** What is seeded: two chains, ten thousand pools. */
export const MARKET = {
  chainIds: [8453, 1],
  poolsPerChain: 5_000,
  factory: FACTORY,
  stopLoss: STOP_LOSS,
  schema: 'onchain_bench',
} as const;

export const CHAINS_FILE = parseChainsFile(
  {
    chains: MARKET.chainIds.map((chainId) => ({
      chainId,
      name: `chain-${chainId}`,
      rpcUrls: ['http://127.0.0.1:1'],
      blockTimeMs: 1000,
      deployments: [
        {
          contractVersion: 'v1',
          layout: 'flat',
          fromBlock: 0,
          poolFactory: FACTORY,
          stopLoss: STOP_LOSS,
          poolDeployer: FACTORY,
        },
      ],
    })),
    limits: { enabled: false },
  },
  'bench',
);
