import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeExtensionOrder } from '../../devnet/pool-words.ts';
import { attachExtensions, decodeExtensionOrder } from './extension-orders.ts';

const NO_ORDERS = {
  beforeAddLiquidity: 0n,
  afterAddLiquidity: 0n,
  beforeRemoveLiquidity: 0n,
  afterRemoveLiquidity: 0n,
  beforeSwap: 0n,
  afterSwap: 0n,
};

describe('an extension order', () => {
  it.each([
    [0n, []],
    [0b001n, [1]],
    [0b010_001n, [1, 2]],
    [0b001_010n, [2, 1]],
    [0b111_000_001n, [1]],
    [0b001_010_011_100_101_110_111n, [7, 6, 5, 4, 3, 2, 1]],
  ])('%d calls %j', (order, numbers) => {
    expect(decodeExtensionOrder(order)).toEqual(numbers);
  });

  it('comes back from its own encoding', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 7 }), (numbers) => {
        expect(decodeExtensionOrder(encodeExtensionOrder(numbers))).toEqual(numbers);
      }),
    );
  });
});

describe('attachExtensions', () => {
  const first = '0x1111111111111111111111111111111111111111';
  const second = '0x2222222222222222222222222222222222222222';

  it('gives each extension its phases, in the order a pool runs them', () => {
    const orders = { ...NO_ORDERS, afterSwap: encodeExtensionOrder([2, 1]), beforeSwap: encodeExtensionOrder([2]) };
    expect(attachExtensions([first, second], orders)).toEqual([
      { address: first, phases: ['afterSwap'] },
      { address: second, phases: ['beforeSwap', 'afterSwap'] },
    ]);
  });

  it('keeps an extension that no order calls, and ignores numbers without an extension', () => {
    const orders = { ...NO_ORDERS, beforeSwap: encodeExtensionOrder([3]) };
    expect(attachExtensions([first], orders)).toEqual([{ address: first, phases: [] }]);
  });
});
