import { z } from '@hono/zod-openapi';
import { type ApiRoute, defineResource } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { ReadyBody, sendCached } from '../http/ready-body.ts';
import type { ServedChains } from '../request.ts';

export const Chain = documented('Chain', 'A chain that is served.', {
  chainId: z.int().openapi({ example: EXAMPLE.chainId, description: 'EVM chain id; `chain_id` of the paths.' }),
  name: z.string().openapi({ example: 'base', description: 'Casing varies by chain: use the id as the key.' }),
  explorerUrl: z.url().optional().openapi({
    example: 'https://basescan.org',
    description: 'Block explorer with `/tx/{hash}` and `/address/{address}`; omitted when not configured.',
  }),
});

/** The list changes only with a restart. */
const CACHE_SECS = 300;

const listChains = {
  operationId: 'listChains',
  method: 'get',
  path: '/public/v1/chains',
  limit: 'listing',
  key: 'none',
  tag: 'Listing',
  summary: 'List the supported chains',
  description: 'A bare array. Every `chain_id` of a path must be one of these.',
  answer: {
    description: 'Every chain served',
    schema: z.array(Chain),
    example: [
      { chainId: EXAMPLE.chainId, name: 'base', explorerUrl: 'https://basescan.org' },
      { chainId: 1, name: 'ethereum' },
    ],
  },
} as const satisfies ApiRoute;

/** `GET /public/v1/chains`: a bare array in the order of the configuration. */
export const chainsResource = defineResource([listChains], ({ chains }: { readonly chains: ServedChains }) => {
  const list = [...chains.values()].map(({ chainId, name, explorerUrl }) => ({ chainId, name, explorerUrl }));
  const body = new ReadyBody(JSON.stringify(list));
  return { listChains: (c) => sendCached(c, body, CACHE_SECS) };
});
