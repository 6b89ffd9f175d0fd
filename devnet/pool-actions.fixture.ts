import fc from 'fast-check';

/** A swap of a part (thousandths) of what the pool has; sometimes more than it has. */
const swap = fc.record({
  kind: fc.constant('swap' as const),
  zeroForOne: fc.boolean(),
  exactInput: fc.boolean(),
  partE3: fc.integer({ min: 1, max: 1_300 }),
});
const add = fc.record({ kind: fc.constant('add' as const), bin: fc.nat(11), partE3: fc.nat(2_000) });
const remove = fc.record({ kind: fc.constant('remove' as const), bin: fc.nat(11), partE3: fc.nat(1_000) });
const collect = fc.record({ kind: fc.constant('collect' as const) });
const fees = fc.record({
  kind: fc.constant('fees' as const),
  spreadE6: fc.integer({ min: 0, max: 500_000 }),
  notionalE8: fc.integer({ min: 0, max: 1_000_000 }),
  bin: fc.nat(11),
  addFee: fc.integer({ min: 0, max: 65_535 }),
});

/** What happens to a pool. Bins are numbers to take modulo the pool's count; shares are parts of the recipe's. */
export function actionOf(weights: { readonly swap: number; readonly liquidity: number }) {
  return fc.oneof(
    { weight: weights.swap, arbitrary: swap },
    { weight: weights.liquidity, arbitrary: add },
    { weight: weights.liquidity, arbitrary: remove },
    { weight: 1, arbitrary: collect },
    { weight: 1, arbitrary: fees },
  );
}

export type Action = ReturnType<typeof actionOf> extends fc.Arbitrary<infer T> ? T : never;
