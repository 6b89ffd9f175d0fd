import type { Address } from 'viem';
import type { BlockRef } from '../../../chain/chain-rpc.ts';
import { type MulticallTarget, multicall } from '../../../chain/multicall.ts';
import type { StopLossState } from '../../../protocol/guards/stop-loss.ts';
import { layoutAdapter } from '../../../protocol/layouts/adapters.ts';
import type { PoolExtension, ServedPool } from '../pool-directory.ts';

export interface GuardedByStopLoss {
  readonly pool: ServedPool;
  readonly stopLoss: PoolExtension;
}

/** Upper estimates of gas, calldata included. */
const GAS = { call: 12_000, perStorageWord: 3_000 };

/**
 * Reads the stop losses of pools at one block.
 *
 * @returns a state per pool; null where the extension does not answer as a stop loss does
 * @throws RpcFailure
 */
export async function readStopLosses(
  target: MulticallTarget,
  block: BlockRef,
  guarded: readonly GuardedByStopLoss[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<Address, StopLossState | null>> {
  if (guarded.length === 0) return new Map();
  const groups = guarded.map(({ pool: { address, layout, immutables }, stopLoss }) =>
    layoutAdapter(layout)
      .stopLoss.calls(stopLoss.address, address, immutables)
      .map((call) => ({ ...call, gas: GAS.call + Math.floor(call.data.length / 64) * GAS.perStorageWord })),
  );
  const results = await multicall(target, block, groups, undefined, signal);
  return new Map(
    guarded.map(({ pool }, index) => {
      const answers = results[index] ?? [];
      return [pool.address, answers.every(({ success }) => success) ? decode(pool, answers, block) : null];
    }),
  );
}

function decode(pool: ServedPool, answers: Awaited<ReturnType<typeof multicall>>[number], block: BlockRef) {
  const { stopLoss } = layoutAdapter(pool.layout);
  try {
    return stopLoss.decode(
      answers.map(({ data }) => data),
      pool.immutables,
      block.timestamp,
    );
  } catch {
    // Another contract than a stop loss: the caller probes it as it would an unknown one.
    return null;
  }
}
