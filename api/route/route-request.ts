import { z } from '@hono/zod-openapi';
import { type Address, zeroAddress } from 'viem';
import type { PairOrder } from '../../protocol/routing/candidate-token-paths.ts';
import type { TradeType } from '../../protocol/routing/fill-curve.ts';
import type { GasPrice } from '../../protocol/swap-gas.ts';
import type { Basis } from '../../quoting/quote-basis.ts';
import { basisFields } from '../declaration/quote-basis.ts';
import { badRequest } from '../errors.ts';
import { parseAddress } from '../hex.ts';
import { clampSize } from '../request.ts';

const MAX_ROUTES = 4;

/** An amount is at most a uint256, which has up to 78 digits. To parse a longer one would only cost time. */
const AMOUNT = /^[0-9]{1,78}$/;

/** Shape of a route request; {@link toRouteRequest} checks the values. An optional field may be null. */
export const RouteBody = z.object({
  tokenIn: z.string().openapi({ description: 'Token to be paid: address in any case.' }),
  tokenOut: z.string().openapi({ description: 'Token to be received: another address.' }),
  tradeType: z
    .enum(['exact_in', 'exact_out'])
    .nullish()
    .describe('Inferred when only one amount is sent; required when both are.'),
  amountIn: z.string().nullish().openapi({ description: 'For `exact_in`: positive integer in base 10, raw units.' }),
  amountOut: z.string().nullish().openapi({ description: 'For `exact_out`: positive integer in base 10, raw units.' }),
  maxRoutes: z
    .preprocess(
      (value) => (typeof value === 'bigint' ? Number(value) : value),
      z.number().refine(Number.isInteger, 'must be an integer').nullish(),
    )
    .openapi({
      type: ['integer', 'null'],
      minimum: 0,
      default: MAX_ROUTES,
      description: 'Most routes of the plan; 1 means no split; 0 acts as 1, more than 4 as 4.',
    }),
  poolAddress: z
    .string()
    .nullish()
    .openapi({ description: 'Restricts routing to this pool, which must be one of the two tokens.' }),
  gasPriceWei: z.string().nullish().openapi({
    description: 'Wei per unit of gas: routes are ranked by what remains after gas. With `nativePriceX64`.',
  }),
  nativePriceX64: z.string().nullish().openapi({
    description:
      'Price of the native token, Q64.64: raw units per wei of the token whose amount is not fixed, `tokenOut` for `exact_in`.',
  }),
  ...basisFields,
});

export type RouteBody = z.output<typeof RouteBody>;

/** What a route request asks for, with defaults filled in. */
export type RouteRequest = PairOrder & {
  /** The amount that the trader fixes, raw units of `tokenIn` for exact_in and of `tokenOut` for exact_out. */
  readonly given: bigint;
  /** 1..4. */
  readonly maxRoutes: number;
  readonly poolAddress: Address | null;
  /** What gas costs in the token that is not fixed; null: routes are ranked without it. */
  readonly gasPrice: GasPrice | null;
  readonly basis: Basis;
  /** Whether the plan comes with what an `eth_call` needs to see what it saw. */
  readonly isOverridden: boolean;
};

/** @throws ApiError 400 with a sentence that names the field and its rule */
export function toRouteRequest(body: RouteBody): RouteRequest {
  const tokenIn = tokenOrPool(body.tokenIn, 'tokenIn');
  const tokenOut = tokenOrPool(body.tokenOut, 'tokenOut');
  if (tokenIn === tokenOut) throw badRequest('tokenIn and tokenOut must be different tokens');
  return {
    tokenIn,
    tokenOut,
    ...order(body),
    maxRoutes: clampSize(body.maxRoutes ?? MAX_ROUTES, MAX_ROUTES, 'maxRoutes'),
    gasPrice: gasPrice(body),
    poolAddress: body.poolAddress == null ? null : tokenOrPool(body.poolAddress, 'poolAddress'),
    basis: body.basis ?? 'live',
    isOverridden: body.include === 'stateOverride',
  };
}

function tokenOrPool(text: string, field: string): Address {
  const address = parseAddress(text);
  if (!address) throw badRequest(`${field} must be a 0x-prefixed 20-byte address`);
  if (address === zeroAddress) throw badRequest(`${field} must not be the zero address`);
  return address;
}

function order(body: RouteBody): Pick<RouteRequest, 'tradeType' | 'given'> {
  const amountIn = amount(body, 'amountIn');
  const amountOut = amount(body, 'amountOut');
  const tradeType = body.tradeType ?? inferredType(amountIn, amountOut);
  const [given, field] = tradeType === 'exact_in' ? [amountIn, 'amountIn'] : [amountOut, 'amountOut'];
  if (given === null) throw badRequest(`${field} is required for ${tradeType}`);
  return { tradeType, given };
}

function gasPrice(body: RouteBody): GasPrice | null {
  const [gasPriceWei, nativePriceX64] = [amount(body, 'gasPriceWei'), amount(body, 'nativePriceX64')];
  if ((gasPriceWei === null) !== (nativePriceX64 === null)) {
    throw badRequest('gasPriceWei and nativePriceX64 are sent together');
  }
  return gasPriceWei !== null && nativePriceX64 !== null ? { gasPriceWei, nativePriceX64 } : null;
}

type AmountField = 'amountIn' | 'amountOut' | 'gasPriceWei' | 'nativePriceX64';

function amount(body: RouteBody, field: AmountField): bigint | null {
  const text = body[field];
  if (text == null) return null;
  const value = AMOUNT.test(text) ? BigInt(text) : 0n;
  if (value === 0n) throw badRequest(`${field} must be a positive base-10 integer of at most 78 digits`);
  return value;
}

function inferredType(amountIn: bigint | null, amountOut: bigint | null): TradeType {
  if (amountIn === null && amountOut === null) throw badRequest('amountIn or amountOut is required');
  if (amountIn !== null && amountOut !== null) {
    throw badRequest('tradeType is required when both amountIn and amountOut are sent');
  }
  return amountIn === null ? 'exact_out' : 'exact_in';
}
