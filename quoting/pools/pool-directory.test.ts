import { expect, test } from 'vitest';
import { tokenScale } from '../../protocol/scaling.ts';
import { guardPlan, type PoolExtension, type ServedPool } from './pool-directory.ts';

type Attached = readonly [PoolExtension['kind'], PoolExtension['phases'][number]];

const token = { address: '0x0000000000000000000000000000000000000001', symbol: 'AAA', decimals: 18 } as const;

const poolWith = (attached: readonly Attached[]): ServedPool => ({
  chainId: 1,
  address: '0x0000000000000000000000000000000000000002',
  contractVersion: 'v1',
  layout: 'flat',
  token0: token,
  token1: token,
  pair: 'AAA/AAA',
  immutables: { lowestBin: 0, highestBin: 0, scale: tokenScale(18, 18) },
  immutableProvider: null,
  extensions: attached.map(([kind, phase]) => ({ address: token.address, kind, phases: [phase] })),
  stopLossMark: 'mean',
  router: null,
});

test.each<[string, Attached[], string]>([
  ['no extension', [], 'none'],
  ['extensions outside of swaps', [['custom', 'beforeRemoveLiquidity']], 'none'],
  ['a stop loss', [['stopLoss', 'afterSwap']], 'evaluated'],
  ['a velocity guard', [['priceVelocityGuard', 'beforeSwap']], 'evaluated'],
  ['an unknown extension', [['custom', 'afterSwap']], 'probed'],
  [
    'an unknown extension beside a known one',
    [
      ['stopLoss', 'afterSwap'],
      ['custom', 'beforeSwap'],
    ],
    'probed',
  ],
  ['a swap allowlist', [['swapAllowlist', 'beforeSwap']], 'none'],
  [
    'a swap allowlist beside an unknown extension',
    [
      ['swapAllowlist', 'beforeSwap'],
      ['custom', 'afterSwap'],
    ],
    'none',
  ],
])('the guards of a pool with %s', (_name, attached, kind) => {
  expect(guardPlan(poolWith(attached)).kind).toBe(kind);
});

test('only a stop loss that runs after swaps has an end to compute', () => {
  const stopLossOf = (attached: readonly Attached[]) => {
    const plan = guardPlan(poolWith(attached));
    return plan.kind === 'evaluated' ? plan.stopLoss?.kind : plan.kind;
  };
  expect(
    stopLossOf([
      ['priceVelocityGuard', 'beforeSwap'],
      ['stopLoss', 'afterSwap'],
    ]),
  ).toBe('stopLoss');
  expect(stopLossOf([['stopLoss', 'beforeSwap']])).toBeUndefined();
});
