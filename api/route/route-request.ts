import { z } from '@hono/zod-openapi';
import { zeroAddress } from 'viem';
import type { TradeType } from '../../protocol/routing/fill-curve.ts';
import { parseAddress } from '../hex.ts';

export const MOST_ROUTES = 4;

const address = z
  .string()
  .transform((text, ctx) => {
    const parsed = parseAddress(text);
    if (!parsed) ctx.addIssue('not a 20-byte 0x-prefixed address');
    return parsed ?? z.NEVER;
  })
  .refine((value) => value !== zeroAddress, 'the zero address');

/** At most the digits of a uint256: nothing larger can be traded, and parsing it would only cost time. */
const amount = z
  .string()
  .regex(/^[0-9]{1,78}$/, 'not a base-10 integer of at most 78 digits')
  .transform(BigInt)
  .refine((value) => value > 0n, 'not positive');

const RouteFields = z.object({
  tokenIn: address.openapi({ type: 'string', example: '0x4200000000000000000000000000000000000006' }),
  tokenOut: address.openapi({ type: 'string', example: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' }),
  tradeType: z.enum(['exact_in', 'exact_out']).optional().openapi({
    description: 'Inferred when only one amount is sent; required when both are.',
  }),
  amountIn: amount.optional().openapi({ type: 'string', example: '1000000000000000000', description: 'Raw units.' }),
  amountOut: amount.optional().openapi({ type: 'string', description: 'Raw units.' }),
  maxRoutes: z
    .number()
    .refine(Number.isInteger, 'not an integer')
    .nonnegative()
    .default(MOST_ROUTES)
    .openapi({ type: 'integer', description: '1 means no split; 0 acts as 1, more than 4 as 4.' }),
  poolAddress: address.optional().openapi({ type: 'string', description: 'Restricts routing to this pool.' }),
});

type RouteFields = z.output<typeof RouteFields>;

/** Body of a route request: what it asks for, with what it leaves open filled in. */
export const RouteRequest = RouteFields.transform((fields, ctx) => {
  if (fields.tokenIn === fields.tokenOut) ctx.addIssue('tokenIn and tokenOut are the same');
  const tradeType = fields.tradeType ?? inferredType(fields);
  const given = tradeType === 'exact_in' ? fields.amountIn : fields.amountOut;
  if (!tradeType) ctx.addIssue(fields.amountIn ? 'tradeType is required with both amounts' : 'no amount');
  else if (!given) ctx.addIssue(`${tradeType} needs ${tradeType === 'exact_in' ? 'amountIn' : 'amountOut'}`);
  if (!tradeType || !given || ctx.issues.length > 0) return z.NEVER;
  const { tokenIn, tokenOut, maxRoutes, poolAddress = null } = fields;
  return { tokenIn, tokenOut, tradeType, given, maxRoutes: Math.min(Math.max(maxRoutes, 1), MOST_ROUTES), poolAddress };
});

export type RouteRequest = z.output<typeof RouteRequest>;

function inferredType({ amountIn, amountOut }: RouteFields): TradeType | null {
  if (amountIn !== undefined && amountOut !== undefined) return null;
  if (amountIn !== undefined) return 'exact_in';
  return amountOut === undefined ? null : 'exact_out';
}
