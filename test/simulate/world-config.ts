import { ChainConfig } from '../../config/chains-schema.ts';
import type { Plan } from './plan.ts';

export const CHAIN = 7;
/** `QUEUE_PREFIX` of all processes. */
export const PREFIX = 'simulated';

/** Of all processes. */
export const QUOTES = { rpcTimeoutMs: 3_000, warmSecs: 30 };

export const configOf = ({ blockTimeMs, nodes, callsPerMinute, maxAgeMs }: Plan): ChainConfig =>
  ChainConfig.parse({
    chainId: CHAIN,
    name: 'simulated',
    wsUrls: Array.from({ length: nodes }, (_, node) => `ws://node${node}`),
    rpcUrls: Array.from({ length: nodes }, (_, node) => `http://node${node}`),
    blockTimeMs,
    warmBudget: { callsPerMinute },
    deployments: [],
    live: {
      ...(maxAgeMs !== null && { maxAgeMs }),
      sources: [
        { kind: 'builder-overrides', rpcUrls: ['http://builder'] },
        { kind: 'relayer', rpcUrls: ['http://relayer'] },
        { kind: 'own' },
      ],
    },
  });
