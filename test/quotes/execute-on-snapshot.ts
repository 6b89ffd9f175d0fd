import { type SwapOrder, swapCall } from '../../devnet/actions.ts';
import type { Deployment } from '../../devnet/deploy.ts';
import { type DevChain, RevertedError, send, staticCall, takenBack } from '../../devnet/dev-chain.ts';

/** More than any swap takes. */
const GAS = 16_000_000n;

interface Chain {
  readonly chain: DevChain;
  readonly deployment: Deployment;
}

/**
 * Whether a swap through the router succeeds as a mined transaction: the chain is put back afterwards.
 *
 * @throws Error when the node itself fails
 */
export function executesOnSnapshot({ chain, deployment }: Chain, order: SwapOrder): Promise<boolean> {
  return takenBack(chain, async () => {
    try {
      await send(chain, { ...swapCall(chain, deployment, order), gas: GAS });
      return true;
    } catch (error) {
      if (error instanceof RevertedError) return false;
      throw error;
    }
  });
}

/** Whether the same swap succeeds at the latest block itself, whose time guards have judged. */
export async function executesAtBlock({ chain, deployment }: Chain, order: SwapOrder): Promise<boolean> {
  return !(await staticCall(chain, swapCall(chain, deployment, order))).reverted;
}
