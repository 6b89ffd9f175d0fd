import { describe, expect, it } from 'vitest';
import { RouteRequest } from './route-request.ts';

const TOKEN_IN = `0x${'aB'.repeat(20)}`;
const TOKEN_OUT = `0x${'cD'.repeat(20)}`;
const POOL = `0X${'Ef'.repeat(20)}`;
const ZERO = `0x${'00'.repeat(20)}`;

const body = (fields: Record<string, unknown>) => ({ tokenIn: TOKEN_IN, tokenOut: TOKEN_OUT, ...fields });
const parse = (fields: Record<string, unknown>) => RouteRequest.parse(body(fields));
const refusal = (fields: Record<string, unknown>) => RouteRequest.safeParse(body(fields)).error?.issues[0]?.message;

describe('route request', () => {
  it('lowercases addresses and fills in what is left open', () => {
    expect(parse({ amountIn: '5', poolAddress: POOL })).toEqual({
      tokenIn: TOKEN_IN.toLowerCase(),
      tokenOut: TOKEN_OUT.toLowerCase(),
      tradeType: 'exact_in',
      given: 5n,
      maxRoutes: 4,
      poolAddress: POOL.toLowerCase(),
    });
    expect(parse({ amountOut: '7' })).toMatchObject({ tradeType: 'exact_out', given: 7n, poolAddress: null });
  });

  it.each([
    ['exact_in', { amountIn: '5', tradeType: 'exact_in' }, 5n],
    ['exact_out', { amountOut: '7', tradeType: 'exact_out' }, 7n],
    ['exact_in', { amountIn: '5', amountOut: '7', tradeType: 'exact_in' }, 5n],
    ['exact_out', { amountIn: '5', amountOut: '7', tradeType: 'exact_out' }, 7n],
    ['exact_in', { amountIn: '005' }, 5n],
  ])('takes the amount of %s from %j', (tradeType, fields, given) => {
    expect(parse(fields)).toMatchObject({ tradeType, given });
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
    expect(parse({ amountIn: '1', maxRoutes: sent }).maxRoutes).toBe(meant);
  });

  it('takes amounts up to 78 digits and ignores unknown fields', () => {
    const most = '9'.repeat(78);
    expect(parse({ amountIn: most, slippage: 1 })).toMatchObject({ given: BigInt(most) });
  });

  it.each([
    ['both amounts without a trade type', { amountIn: '5', amountOut: '7' }, 'tradeType is required with both amounts'],
    ['no amount', {}, 'no amount'],
    ['exact_in without amountIn', { tradeType: 'exact_in', amountOut: '7' }, 'exact_in needs amountIn'],
    ['exact_out without amountOut', { tradeType: 'exact_out', amountIn: '5' }, 'exact_out needs amountOut'],
    ['exact_in without amounts', { tradeType: 'exact_in' }, 'exact_in needs amountIn'],
    ['equal tokens', { tokenOut: TOKEN_IN, amountIn: '5' }, 'tokenIn and tokenOut are the same'],
    [
      'equal tokens of different case',
      { tokenOut: TOKEN_IN.toLowerCase(), amountIn: '5' },
      'tokenIn and tokenOut are the same',
    ],
    ['zero tokenIn', { tokenIn: ZERO, amountIn: '5' }, 'the zero address'],
    ['zero tokenOut', { tokenOut: ZERO, amountIn: '5' }, 'the zero address'],
    ['zero poolAddress', { poolAddress: ZERO, amountIn: '5' }, 'the zero address'],
    ['zero amount', { amountIn: '0' }, 'not positive'],
    ['zero of the other amount', { amountIn: '5', amountOut: '0', tradeType: 'exact_in' }, 'not positive'],
  ])('refuses %s', (_name, fields, message) => {
    expect(refusal(fields)).toBe(message);
  });

  it.each([
    { tokenIn: undefined, amountIn: '5' },
    { tokenOut: undefined, amountIn: '5' },
    { tokenIn: TOKEN_IN.slice(2), amountIn: '5' },
    { tokenIn: `${TOKEN_IN}00`, amountIn: '5' },
    { tokenIn: 5, amountIn: '5' },
    { poolAddress: 'pool', amountIn: '5' },
    { amountIn: 5 },
    { amountIn: '-5' },
    { amountIn: '+5' },
    { amountIn: '5.0' },
    { amountIn: '5e3' },
    { amountIn: '0x5' },
    { amountIn: ' 5' },
    { amountIn: '' },
    { amountIn: '9'.repeat(79) },
    { amountIn: null },
    { amountIn: '5', tradeType: 'EXACT_IN' },
    { amountIn: '5', maxRoutes: -1 },
    { amountIn: '5', maxRoutes: 1.5 },
    { amountIn: '5', maxRoutes: '2' },
  ])('refuses %j', (fields) => {
    expect(RouteRequest.safeParse(body(fields)).success).toBe(false);
  });
});
