import { encodeFunctionData, type Hex, numberToHex } from 'viem';
import { routerAbi } from '../../devnet/abi.ts';
import { noPriceLimit, type SwapOrder } from '../../devnet/actions.ts';
import type { Deployment } from '../../devnet/deploy.ts';
import { type DevChain, findReceipt, staticCall } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';

/** More than any swap takes. It grows, so that no two transactions are the same: the node remembers what it mined. */
let gas = 16_000_000;
/** While it clears away a block that was put back, anvil may drop the next transaction of the same nonce. */
const ATTEMPTS = 5;
const DROPPED_AFTER_MS = 3_000;

interface Chain {
  readonly chain: DevChain;
  readonly deployment: Deployment;
}

/**
 * Whether a swap through the router succeeds as a mined transaction: the chain is put back afterwards.
 *
 * @throws Error when the node itself fails
 */
export async function executesOnSnapshot({ chain, deployment }: Chain, order: SwapOrder): Promise<boolean> {
  const ask = <T>(method: string, params: readonly unknown[]) => request<T>(chain.rpcUrl, method, params);
  const data = swapData(order);
  const snapshot = await ask('evm_snapshot', []);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      gas += 1;
      const transaction = { from: chain.roles.trader, to: deployment.swapRouter, data, gas: numberToHex(gas) };
      const receipt = await minedAtOnce(chain, await ask<Hex>('eth_sendTransaction', [transaction]));
      if (receipt) return receipt.status === 'success';
    }
    throw new Error('the node drops every transaction');
  } finally {
    await ask('evm_revert', [snapshot]);
  }
}

/** The receipt, without a poll interval; undefined when the node dropped the transaction. */
async function minedAtOnce(chain: DevChain, hash: Hex) {
  const deadline = Date.now() + DROPPED_AFTER_MS;
  while (Date.now() < deadline) {
    const receipt = await findReceipt(chain, hash);
    if (receipt) return receipt;
  }
  return undefined;
}

/** Whether the same swap succeeds at the latest block itself, whose time guards have judged. */
export async function executesAtBlock({ chain, deployment }: Chain, order: SwapOrder): Promise<boolean> {
  const call = { from: chain.roles.trader, to: deployment.swapRouter, data: swapData(order) };
  return !(await staticCall(chain, call)).reverted;
}

function swapData({ pool, zeroForOne, amountSpecified }: SwapOrder): Hex {
  const args = [pool, zeroForOne, amountSpecified, noPriceLimit(zeroForOne)] as const;
  return encodeFunctionData({ abi: routerAbi, functionName: 'swap', args });
}
