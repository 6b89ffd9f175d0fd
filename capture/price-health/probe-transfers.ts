import { type Address, maxUint256 } from 'viem';
import { boundedCallsOnce } from '../../chain/contract-calls.ts';
import { CALL_GAS_CAP } from '../../protocol/bounded-calls/bounded-calls.ts';
import { closedSides, tokenLimits } from '../../protocol/transfers/transfer-limits.ts';
import { readMoved, transferCall, transferCode } from '../../protocol/transfers/transfer-proof.ts';
import type { CaptureClass } from '../read-schedule/pool-values.ts';
import { createPoolReads, type PoolSchedule } from '../read-schedule/read-due-pools.ts';
import type { ClosedSides } from './pool-price.ts';

export type TransferProbeDeps = PoolSchedule & {
  /** Updated: sides that were closed at the last probe, as a token did not move. */
  readonly closed: Map<Address, ClosedSides>;
};

/**
 * Makes what finds, of pools of a class whose turn it is, the sides whose tokens do not move, as quotes find them: a pool sends
 * all that it has under a state override, and has it sent back. On nodes without overrides nothing is found.
 */
export function createTransferProbe(deps: TransferProbeDeps): (kind: CaptureClass) => Promise<number> {
  const { chainId, rpcs, closed } = deps;
  const takePools = async (pools: Awaited<ReturnType<PoolSchedule['pools']>>) => {
    const known = new Set(pools.map(({ address }) => address));
    for (const address of closed.keys()) if (!known.has(address)) closed.delete(address);
    return pools;
  };
  return createPoolReads(deps, takePools, (kind) => ({
    callsOf: ({ address, token0, token1 }) => [token0, token1].map((token) => transferCall(address, token, maxUint256)),
    send: (calls) => {
      const code = transferCode(calls.map(({ target }) => target));
      return boundedCallsOnce({ rpc: rpcs[kind], chainId }, 'latest', calls, undefined, CALL_GAS_CAP, code);
    },
    store: async (probed) =>
      probed.map(({ pool: { address }, results }) => {
        // The pool itself answers a node that does not know overrides, and knows no such call.
        const isTried = results.some(({ success }) => success);
        const [token0, token1] = results.map((result) => tokenLimits(0n, null, readMoved(result, maxUint256)));
        const sides = isTried && token0 && token1 ? closedSides({ token0, token1 }) : { bids: false, asks: false };
        if (sides.bids || sides.asks) closed.set(address, sides);
        else closed.delete(address);
        return { gas: 0, isFailed: !isTried };
      }),
  }));
}
