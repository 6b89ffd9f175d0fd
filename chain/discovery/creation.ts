import { type Address, getContractAddress, type Hex, isAddressEqual, numberToHex, size } from 'viem';
import { z } from 'zod';
import { HexAddress } from '../../config/scalars.ts';
import type { ChainRpc } from '../chain-rpc.ts';
import { isRefusal } from '../rpc-failure.ts';

/** Transactions of an account that are looked at: their addresses take half a second. */
const MAX_TRANSACTIONS = 10_000;

const Hexadecimal = z.templateLiteral(['0x', z.string()]);
const Transactions = z
  .object({ transactions: z.array(z.object({ from: HexAddress, to: HexAddress.nullish(), nonce: Hexadecimal })) })
  .nullable();

/**
 * Finds the block that created a contract, by bisection of its code. About 26 calls, one after the other.
 *
 * @param head a block at which it has code
 * @returns null when the nodes do not keep the state of old blocks
 * @throws RpcFailure when no node answers
 */
export async function creationBlock(rpc: ChainRpc, address: Address, head: bigint): Promise<bigint | null> {
  let [without, created] = [-1n, head];
  try {
    while (created - without > 1n) {
      const middle = (without + created) / 2n;
      const code = await rpc.request('eth_getCode', [address, numberToHex(middle)], (it) => Hexadecimal.parse(it));
      if (size(code as Hex) === 0) without = middle;
      else created = middle;
    }
    return created;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

/**
 * Finds the account whose transaction created a contract directly. The contract's address commits to that account, so
 * that no node has to be believed. The address of a contract that a proxy made by `CREATE2` commits to its code alone:
 * anybody may have sent that code first, on a chain that lacked it.
 *
 * @param block the block that created it
 * @returns null when another contract made it, or when it was created in another block
 * @throws RpcFailure when no node answers
 */
export async function makerOf(rpc: ChainRpc, address: Address, block: bigint): Promise<Address | null> {
  const params = [numberToHex(block), true];
  const found = await rpc.request('eth_getBlockByNumber', params, (it) => Transactions.parse(it));
  const made = found?.transactions.find(
    ({ from, to, nonce }) => !to && isAddressEqual(getContractAddress({ from, nonce: BigInt(nonce) }), address),
  );
  return made?.from ?? null;
}

/**
 * The addresses of all contracts that an account made directly, by its first transactions.
 *
 * @throws RpcFailure when no node answers
 */
export async function madeBy(rpc: ChainRpc, from: Address): Promise<ReadonlySet<Address>> {
  const count = await rpc.request('eth_getTransactionCount', [from, 'latest'], Number);
  const nonces = Array.from({ length: Math.min(count, MAX_TRANSACTIONS) }, (_, nonce) => BigInt(nonce));
  return new Set(nonces.map((nonce) => getContractAddress({ from, nonce }).toLowerCase() as Address));
}
