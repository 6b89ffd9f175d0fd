import { z } from '@hono/zod-openapi';
import { Address } from '../../db/listing/pool-record.ts';
import type { ApiRoute } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { POOL_PAGE_FAILURES, pageLimit, poolParams } from '../declaration/pool-page.ts';

const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 100;

/** Place of a trade on its chain as clients pass it: block and log. */
const CURSOR = /^\d{1,15}-\d{1,9}$/;

/** The query string's syntax: what fails here is answered in plain text. */
export const RawTradesQuery = z.object({
  before: z.string().regex(CURSOR, 'not <block>-<log>').optional().openapi({
    pattern: CURSOR.source,
    example: '40043200-12',
    description: 'Only older trades than the one in this block and log: `nextBefore` of the page before.',
  }),
  limit: pageLimit(DEFAULT_LIMIT, MAX_LIMIT),
});

const Amount = z.string().regex(/^-?\d+$/);
const DigitsOrNull = z.string().regex(/^\d+$/).nullable();
const Hash = z.string().regex(/^0x[0-9a-f]{64}$/);

const Trade = documented('Trade', 'A swap in one pool.', {
  blockNumber: z.int().describe('Block of the trade.'),
  timestamp: z.int().describe('Time of that block, Unix seconds.'),
  logIndex: z.int().describe('Place of its log in the block.'),
  transactionHash: Hash.describe('Its transaction.'),
  sender: Address.describe('Who called the pool.'),
  recipient: Address.describe('Who received the output.'),
  zeroForOne: z.boolean().nullable().describe('Whether token0 was sold for token1; null when nothing moved.'),
  amount0Raw: Amount.describe('token0 into the pool, raw units; negative: out of it.'),
  amount1Raw: Amount.describe('The same of token1.'),
  priceX64: DigitsOrNull.describe(
    'Average price after fees, token1 per whole token0, Q64.64; null when token0 did not move.',
  ),
  quotedOut: DigitsOrNull.describe(
    'Output that the pool quoted for this input at the end of the block before, raw units; null when that is not known.',
  ),
  vsQuoteBps: z
    .number()
    .nullable()
    .describe('What the trade got beside that quote, basis points; negative: less. Null when there is none.'),
});
export type Trade = z.output<typeof Trade>;

export const TradesPage = documented('TradesPage', 'Trades of a pool.', {
  data: z.array(Trade).describe('Newest first.'),
  nextBefore: z.string().nullable().describe('`before` of the next page; null on the last one.'),
});
export type TradesPage = z.output<typeof TradesPage>;

const PAGE_EXAMPLE: TradesPage = {
  data: [
    {
      blockNumber: 40043187,
      timestamp: 1794999974,
      logIndex: 7,
      transactionHash: `0x${'5e'.repeat(32)}`,
      sender: '0xc4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4',
      recipient: '0xc5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5',
      zeroForOne: true,
      amount0Raw: '1000000000000000000',
      amount1Raw: '-2998500000',
      priceX64: '55312562105018090520576',
      quotedOut: '2998500000',
      vsQuoteBps: 0,
    },
  ],
  nextBefore: null,
};

export const listTrades = {
  operationId: 'listTrades',
  method: 'get',
  path: '/public/v1/evm/{chain_id}/{pool_address}/trades',
  limit: 'listing',
  key: 'none',
  compress: true,
  tag: 'Listing',
  summary: 'List the trades of one pool',
  description:
    'Newest first, as far as the chain is indexed; those that a reorganisation undoes are gone. For the next page pass ' +
    '`nextBefore` as `before`: trades that come meanwhile do not shift it.',
  request: {
    params: poolParams,
    query: RawTradesQuery,
  },
  answer: { description: 'A page of trades', schema: TradesPage, example: PAGE_EXAMPLE },
  failures: POOL_PAGE_FAILURES,
} as const satisfies ApiRoute;
