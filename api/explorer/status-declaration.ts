import { z } from '@hono/zod-openapi';
import { Address } from '../../db/listing/pool-record.ts';
import type { ApiRoute } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { EXAMPLE } from '../declaration/example-market.ts';

const Block = z.int().nullable();
const Age = z.int().nonnegative().nullable();

const AgreedBlock = Block.describe('Last final block at which both agreed; null without one.');

const Audit = documented('IndexAudit', 'How the index compares with the storage of the chain, at final blocks.', {
  auditedToBlock: Block.describe('Newest block at which any pool was compared; null before the first time.'),
  unreadPools: z.int().describe('Pools and factories that no node gave at their last comparison.'),
  differingPools: z
    .array(z.strictObject({ poolAddress: Address.describe('The pool.'), agreedBlock: AgreedBlock }))
    .readonly()
    .describe('Pools whose index is not what the chain holds, at most 100: their analytics are null, quotes continue.'),
  differingFactories: z
    .array(z.strictObject({ factory: Address.describe('The pool factory.'), agreedBlock: AgreedBlock }))
    .readonly()
    .describe('Factories of which the index has fewer or more pools than the chain.'),
  lastDifferenceAt: z.int().nullable().describe('When a difference was last seen, Unix seconds; null if never.'),
});

const ChainStatus = documented('ChainStatus', 'How current the data of a chain is.', {
  chainId: z.int().describe('EVM chain id.'),
  name: z.string().describe('Name of the chain.'),
  following: z.boolean().describe('Whether the index follows the chain. False: listings and trades do not change.'),
  nodesRespond: z.boolean().describe('False while calls to all nodes of the chain fail: quotes get 500 or 503.'),
  headBlock: Block.describe("Newest block that the chain's nodes report; null when none responds."),
  indexedBlock: Block.describe('Newest indexed block, for listings and trades; null before the first index.'),
  indexedTimestamp: z.int().nullable().describe('Time of that block, Unix seconds.'),
  lagBlocks: z.int().nullable().describe('Blocks from the index to the head; negative after a rollback.'),
  finalityBlocks: z.int().describe('Blocks of the longest reorganisation that the index undoes.'),
  finalitySecs: z.int().describe('How long that is, by the usual time between blocks.'),
  firstSync: z
    .strictObject({
      fromBlock: z.int().describe('First block of the index.'),
      blockNumber: Block.describe('Last indexed block; null before the first.'),
      logs: z.int().describe('Logs that the nodes have given since the indexer started.'),
    })
    .nullable()
    .describe('How far the first index has come; null once there is one.'),
  lagSecs: z.number().nonnegative().nullable().describe('Seconds between the times of the two blocks.'),
  newestPriceAgeSecs: Age.describe("Since the last read of any pool's price status; null without one."),
  oldestPriceAgeSecs: Age.describe('Since the read of the least recently read pool; null without one.'),
  listingAgeSecs: Age.describe('Since the listing was computed; null before the first time.'),
  fiatPriceAgeSecs: Age.describe('Since the price source made its newest token price; null without one.'),
  audit: Audit.describe('How the index compares with the storage of the chain, at final blocks.'),
  faultyNodes: z
    .array(
      z.strictObject({
        node: z.string().describe('Its place in the chains file, such as `rpcUrls[0]`.'),
        leftOut: z.int().describe('Logs that it left out.'),
        invented: z.int().describe('Logs that the chain does not have there.'),
        lastAt: z.int().describe('When it last did so, Unix seconds.'),
      }),
    )
    .readonly()
    .describe(
      'Nodes that gave the index wrong logs in the last day, by other nodes or their own blocks; others are asked first.',
    ),
  fiatPricesLost: z
    .boolean()
    .describe(
      'Whether the price source gives no current price any more: values in listings are null, floors and orders go by the last prices.',
    ),
});

export const ServiceStatus = documented('ServiceStatus', 'What runs, and how current the data is, by chain.', {
  serverTs: z.int().describe('Clock of the service, Unix seconds.'),
  release: z.string().describe('Release of the service.'),
  node: z.string().describe('Version of Node that it runs on.'),
  chains: z.array(ChainStatus).describe('Every chain whose pools are served.'),
});
export type ServiceStatus = z.output<typeof ServiceStatus>;

const STATUS_EXAMPLE: ServiceStatus = {
  serverTs: 1795000004,
  release: '0.3.0',
  node: '24.21.0',
  chains: [
    {
      chainId: EXAMPLE.chainId,
      name: 'base',
      following: true,
      nodesRespond: true,
      headBlock: 40043201,
      indexedBlock: 40043200,
      indexedTimestamp: 1795000000,
      lagBlocks: 1,
      lagSecs: 2,
      finalityBlocks: 30,
      finalitySecs: 60,
      firstSync: null,
      newestPriceAgeSecs: 3,
      oldestPriceAgeSecs: 9,
      listingAgeSecs: 2,
      fiatPriceAgeSecs: 45,
      fiatPricesLost: false,
      audit: {
        auditedToBlock: 40043150,
        unreadPools: 0,
        differingPools: [],
        differingFactories: [],
        lastDifferenceAt: null,
      },
      faultyNodes: [],
    },
  ],
};

export const getStatus = {
  operationId: 'getStatus',
  method: 'get',
  path: '/public/v1/status',
  limit: 'listing',
  key: 'none',
  compress: true,
  tag: 'Service',
  summary: 'How current the data is',
  description:
    'Head, index and ages by chain, each at most some seconds old. Also responds while the database is unreachable.',
  answer: { description: 'The state of every chain', schema: ServiceStatus, example: STATUS_EXAMPLE },
} as const satisfies ApiRoute;
