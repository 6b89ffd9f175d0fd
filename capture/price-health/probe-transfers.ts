import { type Address, maxUint256 } from 'viem';
import { boundedCallsOnce } from '../../chain/isolated-calls.ts';
import { closedSides, tokenLimits } from '../../protocol/transfers/transfer-limits.ts';
import { readMoved, transferCall, transferCode } from '../../protocol/transfers/transfer-proof.ts';
import type { ClosedSides } from '../../quoting/calls/pool-price.ts';
import { createPoolReads, type PoolSchedule } from '../read-schedule/read-due-pools.ts';
import { keepPools, noteSides, type SideProbe } from './closed-sides.ts';

/**
 * Makes a probe that finds, for the due pools of a class, the sides whose tokens do not move, as quotes do. Under a
 * state override, a pool sends all that it has of a token, and gets it sent back. It finds nothing on nodes without
 * overrides. Quotes try what bins hold, which these reads do not know, and remember what moved (`quoting/guards`).
 *
 * @param closed what is known before the first probe
 */
export function createTransferProbe(deps: PoolSchedule, closed = new Map<Address, ClosedSides>()): SideProbe {
  const { chainId, rpcs } = deps;
  const takePools = async (pools: Awaited<ReturnType<PoolSchedule['pools']>>) => {
    keepPools(closed, pools);
    return pools;
  };
  const run = createPoolReads(deps, takePools, (kind) => ({
    callsOf: ({ address, token0, token1 }) => [token0, token1].map((token) => transferCall(address, token, maxUint256)),
    send: (calls) => {
      const code = transferCode(calls.map(({ target }) => target));
      return boundedCallsOnce({ rpc: rpcs[kind], chainId }, { block: 'latest', code }, calls);
    },
    store: async (probed) =>
      probed.map(({ pool: { address }, results }) => {
        // On a node without overrides the pool's own code runs, which does not know this call: no result succeeds.
        const isTried = results.some(({ success }) => success);
        const [token0, token1] = results.map((result) => tokenLimits(0n, null, readMoved(result, maxUint256)));
        const sides = isTried && token0 && token1 ? closedSides({ token0, token1 }) : { bids: false, asks: false };
        noteSides(closed, address, sides);
        return { gas: 0, isFailed: !isTried };
      }),
  }));
  return { run, closed };
}
