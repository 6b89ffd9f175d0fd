import { z } from '@hono/zod-openapi';
import { Address } from '../../db/listing/pool-record.ts';
import { documented } from '../declaration/documented.ts';
import { EXAMPLE } from '../declaration/example-market.ts';

/** Messages of the adapter specification that listing sites share; DEXTools has two more, and a pair's factory. */

const Hash = z.string().regex(/^0x[0-9a-f]{64}$/);
const Tokens = z.string().regex(/^\d+(\.\d+)?$/);

const Block = documented('SiteBlock', 'A block.', {
  blockNumber: z.int().describe('Its number.'),
  blockTimestamp: z.int().describe('Its time, Unix seconds.'),
});
export type SiteBlock = z.output<typeof Block>;

const Asset = documented('SiteAsset', 'A token.', {
  id: Address.describe('Its address.'),
  name: z.string().min(1).describe('Its name, or its symbol when it has none.'),
  symbol: z.string().min(1).describe('Its symbol.'),
});
export type SiteAsset = z.output<typeof Asset>;

const pairFields = {
  id: Address.describe('The pool.'),
  dexKey: Address.describe('Its factory.'),
  asset0Id: Address.describe('token0.'),
  asset1Id: Address.describe('token1.'),
  createdAtBlockNumber: z.int().describe('Block that created it.'),
  createdAtBlockTimestamp: z.int().describe('Time of that block, Unix seconds.'),
  createdAtTxnId: Hash.describe('Transaction that created it.'),
  creator: Address.describe('Who sent that transaction.'),
};
const Pair = documented('SitePair', 'A pool.', pairFields);
const FactoryPair = documented('SiteFactoryPair', 'A pool with its factory.', {
  ...pairFields,
  factoryAddress: Address.describe('Its factory.'),
});

const Event = documented('SiteEvent', 'A swap, or a change of liquidity. Amounts are in whole tokens.', {
  block: Block,
  eventType: z.enum(['swap', 'join', 'exit']).describe('`join` adds liquidity, `exit` removes it.'),
  txnId: Hash.describe('Its transaction.'),
  txnIndex: z.int().describe('Place of the transaction in its block.'),
  eventIndex: z.int().describe('Place of its log in the block.'),
  maker: Address.describe('Who sent the transaction.'),
  pairId: Address.describe('The pool.'),
  asset0In: Tokens.optional().describe('token0 sold; with `asset1Out`.'),
  asset1Out: Tokens.optional().describe('token1 bought.'),
  asset1In: Tokens.optional().describe('token1 sold; with `asset0Out`.'),
  asset0Out: Tokens.optional().describe('token0 bought.'),
  priceNative: Tokens.optional().describe(
    'Price of token0 in token1 that the swap paid, rounded down after 24 digits or more that count.',
  ),
  amount0: Tokens.optional().describe('token0 of a change of liquidity.'),
  amount1: Tokens.optional().describe('token1 of a change of liquidity.'),
  reserves: documented('SiteReserves', 'What the pool holds after the event, fees included.', {
    asset0: Tokens.describe('token0.'),
    asset1: Tokens.describe('token1.'),
  }).describe('What the pool holds after the event.'),
});
export type SiteEvent = z.output<typeof Event>;

export const BlockAnswer = documented('SiteBlockAnswer', 'A block.', { block: Block });
export const AssetAnswer = documented('SiteAssetAnswer', 'A token.', { asset: Asset });
export const PairAnswer = documented('SitePairAnswer', 'A pool.', { pair: Pair });
export type PairAnswer = z.output<typeof PairAnswer>;
export const FactoryPairAnswer = documented('SiteFactoryPairAnswer', 'A pool.', {
  pair: FactoryPair,
});
export const EventsAnswer = documented('SiteEvents', 'Events of a range of blocks.', {
  events: z.array(Event).describe('By block, transaction and log.'),
});
export const ExchangeAnswer = documented('SiteExchangeAnswer', 'A factory of pools.', {
  exchange: documented('SiteExchange', 'A factory of pools.', {
    factoryAddress: Address.describe('The factory.'),
    name: z.string().describe('Name of the service, and the release of the contracts.'),
  }).describe('The factory.'),
});

export const BLOCK = { blockNumber: 40_043_187, blockTimestamp: 1_794_999_974 };
export const PAIR_EXAMPLE: PairAnswer['pair'] = {
  id: EXAMPLE.pool,
  dexKey: EXAMPLE.factory,
  asset0Id: EXAMPLE.weth,
  asset1Id: EXAMPLE.usdc,
  createdAtBlockNumber: 40_000_000,
  createdAtBlockTimestamp: 1_794_913_600,
  createdAtTxnId: `0x${'ab'.repeat(32)}`,
  creator: '0xc3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3',
};
export const EVENT_EXAMPLE: SiteEvent = {
  block: BLOCK,
  eventType: 'swap',
  txnId: `0x${'5e'.repeat(32)}`,
  txnIndex: 3,
  eventIndex: 7,
  maker: '0xc4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4',
  pairId: EXAMPLE.pool,
  asset0In: '1',
  asset1Out: '2998.5',
  priceNative: '2998.5',
  reserves: { asset0: '251', asset1: '747001.5' },
};
