import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { jsonBody } from '../body.ts';
import { ApiError, sendError } from '../errors.ts';
import { RouteBody, toRouteRequest } from './route-request.ts';

const TOKEN_IN = `0x${'aB'.repeat(20)}`;
const TOKEN_OUT = `0x${'cD'.repeat(20)}`;
const POOL = `0X${'Ef'.repeat(20)}`;
const ZERO = `0x${'00'.repeat(20)}`;
const MOST = '9'.repeat(78);

const body = (fields: Record<string, unknown>) => ({ tokenIn: TOKEN_IN, tokenOut: TOKEN_OUT, ...fields });
const read = (fields: Record<string, unknown>) => toRouteRequest(RouteBody.parse(body(fields)));

const app = new Hono();
app.post('/', async (c) => {
  toRouteRequest(await jsonBody(c, RouteBody));
  return c.text('taken');
});
app.onError((error, c) => {
  if (error instanceof ApiError) return sendError(c, error);
  throw error;
});

async function refusal(sent: unknown): Promise<unknown> {
  const response = await app.request('/', { method: 'POST', body: JSON.stringify(sent) });
  return response.status === 400 ? response.json() : response.status;
}

describe('route request', () => {
  it('lowercases addresses and fills in what is left open', () => {
    expect(read({ amountIn: '5', poolAddress: POOL })).toEqual({
      tokenIn: TOKEN_IN.toLowerCase(),
      tokenOut: TOKEN_OUT.toLowerCase(),
      tradeType: 'exact_in',
      given: 5n,
      maxRoutes: 4,
      poolAddress: POOL.toLowerCase(),
      gasPrice: null,
      basis: 'live',
      isOverridden: false,
    });
    expect(read({ amountOut: '7' })).toMatchObject({ tradeType: 'exact_out', given: 7n, poolAddress: null });
  });

  it('takes null for an optional field as absent', () => {
    const nothing = { tradeType: null, amountIn: null, maxRoutes: null, poolAddress: null, gasPriceWei: null };
    expect(read({ ...nothing, amountOut: '7' })).toEqual(read({ amountOut: '7' }));
    expect(read({ amountIn: '5', amountOut: null })).toEqual(read({ amountIn: '5' }));
  });

  it.each([
    ['exact_in', { amountIn: '5', tradeType: 'exact_in' }, 5n],
    ['exact_out', { amountOut: '7', tradeType: 'exact_out' }, 7n],
    ['exact_in', { amountIn: '5', amountOut: '7', tradeType: 'exact_in' }, 5n],
    ['exact_out', { amountIn: '5', amountOut: '7', tradeType: 'exact_out' }, 7n],
    ['exact_in', { amountIn: '005' }, 5n],
  ])('takes the amount of %s from %j', (tradeType, fields, given) => {
    expect(read(fields)).toMatchObject({ tradeType, given });
  });

  it.each([
    [0, 1],
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
    [5, 4],
    [1e20, 4],
  ])('reads maxRoutes %d as %d', (sent, meant) => {
    expect(read({ amountIn: '1', maxRoutes: sent }).maxRoutes).toBe(meant);
  });

  it('takes prices of gas', () => {
    const gasPrice = { gasPriceWei: 7n, nativePriceX64: 3n };
    expect(read({ amountIn: '5', gasPriceWei: '7', nativePriceX64: '3' })).toMatchObject({ gasPrice });
  });

  it('takes amounts up to 78 digits and ignores unknown fields', () => {
    expect(read({ amountIn: MOST, slippage: 1 })).toMatchObject({ given: BigInt(MOST) });
  });
});

describe('a value that is not allowed is named with its rule', () => {
  const POSITIVE = 'must be a positive base-10 integer of at most 78 digits';
  const ADDRESS = 'must be a 0x-prefixed 20-byte address';

  it.each<[Record<string, unknown>, string]>([
    [{ tokenIn: TOKEN_IN.slice(2), amountIn: '5' }, `tokenIn ${ADDRESS}`],
    [{ tokenIn: `${TOKEN_IN}00`, amountIn: '5' }, `tokenIn ${ADDRESS}`],
    [{ tokenOut: '', amountIn: '5' }, `tokenOut ${ADDRESS}`],
    [{ poolAddress: 'pool', amountIn: '5' }, `poolAddress ${ADDRESS}`],
    [{ tokenIn: ZERO, amountIn: '5' }, 'tokenIn must not be the zero address'],
    [{ tokenOut: ZERO, amountIn: '5' }, 'tokenOut must not be the zero address'],
    [{ poolAddress: ZERO, amountIn: '5' }, 'poolAddress must not be the zero address'],
    [{ tokenOut: TOKEN_IN, amountIn: '5' }, 'tokenIn and tokenOut must be different tokens'],
    [{ tokenOut: TOKEN_IN.toLowerCase(), amountIn: '5' }, 'tokenIn and tokenOut must be different tokens'],
    ...['0', '00', '-5', '+5', '5.0', '5e3', '0x5', ' 5', '5\n', '', '٣'].flatMap(
      (amount): [Record<string, unknown>, string][] => [
        [{ amountIn: amount }, `amountIn ${POSITIVE}`],
        [{ amountOut: amount }, `amountOut ${POSITIVE}`],
      ],
    ),
    [{ amountIn: '5', amountOut: '0', tradeType: 'exact_in' }, `amountOut ${POSITIVE}`],
    [{ amountIn: `${MOST}9` }, `amountIn ${POSITIVE}`],
    [{ amountOut: '0'.repeat(79) }, `amountOut ${POSITIVE}`],
    [{}, 'amountIn or amountOut is required'],
    [{ amountIn: null, amountOut: null }, 'amountIn or amountOut is required'],
    [{ amountIn: '5', amountOut: '7' }, 'tradeType is required when both amountIn and amountOut are sent'],
    [{ amountOut: '7', tradeType: 'exact_in' }, 'amountIn is required for exact_in'],
    [{ tradeType: 'exact_in' }, 'amountIn is required for exact_in'],
    [{ amountIn: '5', tradeType: 'exact_out' }, 'amountOut is required for exact_out'],
    [{ amountIn: '5', gasPriceWei: '1' }, 'gasPriceWei and nativePriceX64 are sent together'],
    [{ amountIn: '5', nativePriceX64: '1' }, 'gasPriceWei and nativePriceX64 are sent together'],
    [{ amountIn: '5', gasPriceWei: '0', nativePriceX64: '1' }, `gasPriceWei ${POSITIVE}`],
    [{ amountIn: '5', maxRoutes: -1 }, 'maxRoutes must not be negative'],
  ])('%j: %s', async (fields, error) => {
    expect(await refusal(body(fields))).toEqual({ error });
  });

  it('a long amount takes no time to refuse', async () => {
    for (const amountIn of ['1'.repeat(250_000), `${'1'.repeat(250_000)}x`]) {
      const before = process.threadCpuUsage();
      expect(await refusal(body({ amountIn }))).toMatchObject({ error: expect.stringMatching(/^amountIn must /) });
      // Of this thread, whatever else the machine does.
      expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
    }
  });
});

describe('a body that cannot be read is rejected', () => {
  it('takes a number of routes that JSON reads as a bigint', async () => {
    expect(await refusal(body({ amountIn: '5', maxRoutes: 1e20 }))).toBe(200);
  });

  it.each([
    [[], 'Invalid input: expected object, received array'],
    [null, 'Invalid input: expected object, received null'],
    ['text', 'Invalid input: expected object, received string'],
    [{ tokenOut: TOKEN_OUT, amountIn: '5' }, 'tokenIn: Invalid input: expected string, received undefined'],
    [{ tokenIn: TOKEN_IN, amountIn: '5' }, 'tokenOut: Invalid input: expected string, received undefined'],
    [body({ tokenIn: null, amountIn: '5' }), 'tokenIn: Invalid input: expected string, received null'],
    [body({ tokenIn: 5, amountIn: '5' }), 'tokenIn: Invalid input: expected string, received number'],
    [body({ tokenOut: {}, amountIn: '5' }), 'tokenOut: Invalid input: expected string, received object'],
    ...[1, '', 'EXACT_IN'].map((tradeType): [unknown, string] => [
      body({ tradeType, amountIn: '5' }),
      'tradeType: Invalid option: expected one of "exact_in"|"exact_out"',
    ]),
    [body({ amountIn: '5', maxRoutes: 1.5 }), 'maxRoutes: must be an integer'],
    [body({ amountIn: 5 }), 'amountIn: Invalid input: expected string, received number'],
    [body({ amountOut: ['5'] }), 'amountOut: Invalid input: expected string, received array'],
    [body({ amountIn: '5', maxRoutes: '2' }), 'maxRoutes: Invalid input: expected number, received string'],
    [body({ amountIn: '5', poolAddress: true }), 'poolAddress: Invalid input: expected string, received boolean'],
  ])('%j: %s', async (sent, reason) => {
    expect(await refusal(sent)).toEqual({ error: `Invalid request body: ${reason}` });
  });
});
