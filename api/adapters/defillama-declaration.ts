import { z } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { ADAPTER, params } from './declaration.ts';

export const DayQuery = z.object({
  timestamp: z
    .string()
    .regex(/^\d{1,12}$/, 'not a time')
    .transform(Number)
    .openapi({ type: 'integer', example: 1_794_900_000, description: 'Unix seconds: the day (UTC) that it is in.' }),
});

const Usd = z.number();
const Count = z.int();

export const ChainDay = documented('ChainDay', 'A day of the pools of a chain, US dollars.', {
  timestamp: z.int().describe('Start of the day (UTC), Unix seconds.'),
  dailyVolume: Usd.describe('Inputs of swaps, at their prices then.'),
  dailyFees: Usd.describe('Fees of liquidity providers, and `dailyRevenue`.'),
  dailyRevenue: Usd.describe(
    'Fees of protocol and admins, those on amounts included, at the prices of the last hour of the day.',
  ),
  dailySupplySideRevenue: Usd.describe('Fees of liquidity providers, at their prices then.'),
  tvl: Usd.describe(
    'What pools held for liquidity providers at the end of the day; of packed pools all that they held.',
  ),
  unknown: documented('ChainDayUnknown', 'Pools whose figure is not known: the sums leave them out.', {
    dailyVolume: Count.describe('Without a volume.'),
    dailyFees: Count.describe('Without fees, such as packed pools and the oldest generation: in none of the three.'),
    tvl: Count.describe('Without a price of what they held, and the oldest generation.'),
  }).describe('Pools that the sums leave out.'),
});
export type ChainDay = z.output<typeof ChainDay>;

export const getDefillamaDay = {
  operationId: 'getDefillamaDay',
  path: '/adapters/defillama/{chain_id}',
  ...ADAPTER,
  summary: 'Get volume, fees, revenue and TVL of a day for DefiLlama',
  description:
    'Of all pools of enabled deployments, and of the oldest generation where it is indexed, but delisted ones. Pools whose index differs from the chain count. 404 until the whole day is final.',
  request: { params, query: DayQuery },
  answer: {
    description: 'The day',
    schema: ChainDay,
    example: {
      timestamp: 1_794_873_600,
      dailyVolume: 119_940,
      dailyFees: 60,
      dailyRevenue: 6,
      dailySupplySideRevenue: 54,
      tvl: 1_499_400,
      unknown: { dailyVolume: 0, dailyFees: 1, tvl: 0 },
    } satisfies ChainDay,
  },
} as const satisfies ApiRoute;
