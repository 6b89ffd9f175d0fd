import type { Address, Log } from 'viem';
import { expect } from 'vitest';
import type { Queryable } from '../../db/transaction.ts';
import { type SwapAmounts, sendSwap } from '../../devnet/actions.ts';
import { type DevChain, takenBack } from '../../devnet/dev-chain.ts';
import { divCeil } from '../../protocol/fixed-point.ts';

const MOST_E2 = 5n;
const PART = 100n;
/** More than any side takes, and less than pools refuse. */
const MOST_INPUT = 10n ** 25n;

interface SwappedPool {
  readonly chain: DevChain;
  readonly swapRouter: Address;
  readonly address: Address;
  readonly amountsOf: (logs: Log[]) => SwapAmounts;
}

/** Expects gas of the pool's swaps as capture stored it to be within 5% of receipts, in both directions. */
export async function expectSwapGas(database: Queryable, { chain, swapRouter, address, amountsOf }: SwappedPool) {
  const { rows } = await database.query<{ gas: readonly number[] }>(
    'SELECT ARRAY[gas_token0_in, gas_token1_in] AS gas FROM operator.price_health WHERE pool = $1 AND gas_at IS NOT NULL',
    [address],
  );
  for (const [index, zeroForOne] of [true, false].entries()) {
    const swap = (amountSpecified: bigint) =>
      takenBack(chain, () => sendSwap(chain, { swapRouter }, { pool: address, zeroForOne, amountSpecified }));
    // All that the pool takes is its side.
    const { amount0Delta, amount1Delta } = amountsOf((await swap(MOST_INPUT)).logs);
    const { gasUsed } = await swap(divCeil(zeroForOne ? amount0Delta : amount1Delta, PART));
    const gas = BigInt(rows[0]?.gas[index] ?? 0);
    const off = gas > gasUsed ? gas - gasUsed : gasUsed - gas;
    expect([gas, gasUsed, off * 100n <= gasUsed * MOST_E2]).toEqual([gas, gasUsed, true]);
  }
}
