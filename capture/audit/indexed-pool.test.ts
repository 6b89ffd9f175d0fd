import fc from 'fast-check';
import { expect, it } from 'vitest';
import { indexedAllowlists } from './indexed-extensions.ts';
import { readIndexedPool } from './indexed-pool.ts';

const ADDRESS = `0x${'a'.repeat(40)}` as const;
const pool = JSON.stringify({
  address: ADDRESS,
  factory: ADDRESS,
  admin: ADDRESS,
  admin_fee_destination: ADDRESS,
  protocol_spread_fee_e6: 0,
  admin_spread_fee_e6: 0,
  protocol_notional_fee_e8: 0,
  admin_notional_fee_e8: 0,
  price_provider: ADDRESS,
  lowest_bin: 0,
  highest_bin: 1,
  token0_scale_multiplier: 1,
  token1_scale_multiplier: 1_000_000_000_000,
  bin_lengths_e6: [1, 1],
  bin_add_fees_buy_e6: [0, 0],
  bin_add_fees_sell_e6: [0, 0],
});

const NO_EXTENSIONS = { extensions: [], allowlists: [], guards: [] };

/** A packed pool after swaps. */
function stateOf(swaps: number, deltas0: readonly number[], deltas1: readonly number[]): string {
  return JSON.stringify({
    pause_level: 0,
    cur_bin_idx: null,
    cur_pos_in_bin: null,
    cur_bin_dist_from_provided_price_e6: null,
    spread_fee_e6: 0,
    notional_fee_e8: 0,
    total0_scaled: null,
    total1_scaled: null,
    notional_fee0_scaled: null,
    notional_fee1_scaled: null,
    bin_balances0_scaled: [5, 5],
    bin_balances1_scaled: [7, 7],
    bin_swap_deltas0: deltas0,
    bin_swap_deltas1: deltas1,
    bin_shares: [1, 1],
    activity_totals: [swaps, null],
  });
}

/** Facts of the bins of a packed pool, after so many swaps that have moved this. */
function binFacts(swaps: number, deltas0: readonly number[], deltas1: readonly number[]) {
  const { binBalances0, binBalances1 } = readIndexedPool({
    pool,
    state: stateOf(swaps, deltas0, deltas1),
    ...NO_EXTENSIONS,
  }).facts;
  return [binBalances0, binBalances1];
}

const LIQUIDITY = ['liquidity'];
const EQUAL = [...LIQUIDITY, 'swapsOfEqualUnits'];
const SCALED = [...EQUAL, 'swapsOfScaledUnits'];

it('what bins of packed pools hold shows no more than what was moved, and needs no less than swaps may have moved', () => {
  expect(binFacts(0, [0, 0], [0, 0])).toEqual([
    { value: '5,5', shows: LIQUIDITY, needs: 'liquidity' },
    { value: '7,7', shows: LIQUIDITY, needs: 'liquidity' },
  ]);
  expect(binFacts(2, [-1, 0], [3, 0])).toEqual([
    { value: '4,5', shows: EQUAL, needs: 'swapsOfEqualUnits' },
    { value: '10,7', shows: SCALED, needs: 'swapsOfScaledUnits', mayBe: expect.any(Function) },
  ]);
  // Less than a raw unit of token1 came in, for which a factory that logs raw units logs 0.
  expect(binFacts(1, [-1, 0], [0, 0])[1]).toMatchObject({
    value: '7,7',
    shows: LIQUIDITY,
    needs: 'swapsOfScaledUnits',
  });
});

it('bins may hold what swaps in raw units explain, each rounded, and nothing else', () => {
  const scale = 1_000_000_000_000;
  const fact = binFacts(2, [-1, 0], [3, -2])[1];
  for (const [held, may] of [
    [[7 + 3 * scale, 7 - 2 * scale], true],
    [[7 + 5 * scale, 7], true],
    [[7 + 5 * scale + 1, 7], false],
    [[7 + 3 * scale, 7 - 5 * scale], false],
  ] as const)
    expect(fact?.mayBe?.(held.join())).toBe(may);
});

it('whatever swaps move, their raw units explain what bins hold', () => {
  const scale = 1_000_000_000_000n;
  const moves = fc.array(fc.bigInt({ min: -1_000n * scale, max: 1_000n * scale }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(moves, (scaled) => {
      const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
      const [held, raw] = [7n + sum(scaled), sum(scaled.map((move) => move / scale))];
      const fact = binFacts(scaled.length, [0, 0], [Number(raw), 0])[1];
      expect(fact?.value === `${held},7` || fact?.mayBe?.(`${held},7`)).toBe(true);
    }),
  );
});

it('allowlists are flags of all and of accounts; a pool without one has neither', () => {
  const factsWith = (...flags: readonly (readonly [boolean, readonly boolean[]])[]) => {
    const allowlists = flags.map(([allowAll, allowed]) => {
      const accounts = allowed.map(() => `0x${'b'.repeat(40)}` as const);
      return { address: ADDRESS, allowAll, accounts, allowed } as const;
    });
    const { allowAll, allowedAccounts } = indexedAllowlists(allowlists);
    return [allowAll, allowedAccounts];
  };
  expect(factsWith()).toEqual([undefined, undefined]);
  expect(factsWith([false, [true, false]], [false, [true]])).toEqual([
    { value: '0,0', shows: [], needs: 'allowAll' },
    { value: '1,0,1', shows: ['allowedAccounts'], needs: 'allowedAccounts' },
  ]);
  expect(factsWith([true, []])).toEqual([
    { value: '1', shows: ['allowAll'], needs: 'allowAll' },
    { value: '', shows: [], needs: 'allowedAccounts' },
  ]);
});
