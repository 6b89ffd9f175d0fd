import { encodeFunctionData, type Hex, numberToHex, type TransactionReceipt } from 'viem';
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
  const nonce = await ask<Hex>('eth_getTransactionCount', [chain.roles.trader, 'latest']);
  const snapshot = await ask('evm_snapshot', []);
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // One that was put back or seemed dropped may still wait, to be mined before this one: one nonce, and no waiting.
      await ask('anvil_dropAllTransactions', []);
      gas += 1;
      const transaction = { from: chain.roles.trader, to: deployment.swapRouter, data, gas: numberToHex(gas), nonce };
      const receipt = await minedAtOnce(chain, await ask<Hex>('eth_sendTransaction', [transaction]));
      if (receipt) return judge(receipt);
    }
    throw new Error('the node drops every transaction');
  } finally {
    await ask('evm_revert', [snapshot]);
  }
}

/** @throws Error when another transaction came before it: what it was executed on is not the snapshot */
function judge({ transactionIndex, status }: TransactionReceipt): boolean {
  if (transactionIndex !== 0) throw new Error('another transaction was mined before the swap');
  return status === 'success';
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
