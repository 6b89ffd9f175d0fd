import { type Address, getContractAddress, type Hex, isAddressEqual, numberToHex, size, sliceHex } from 'viem';
import { z } from 'zod';
import { HexAddress } from '../../config/scalars.ts';
import type { ChainRpc } from '../chain-rpc.ts';
import { isRefusal } from '../rpc-failure.ts';

/** A contract that anybody may call to create another: the address of what it makes commits to the code. */
const CREATE2_PROXY = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
const SALT_BYTES = 32;
/** Transactions of an account that are looked at: their addresses take half a second. */
const MAX_TRANSACTIONS = 10_000;

const Hexadecimal = z.templateLiteral(['0x', z.string()]);
const Transactions = z.object({
  transactions: z.array(
    z.object({ from: HexAddress, to: HexAddress.nullish(), nonce: Hexadecimal, input: Hexadecimal }),
  ),
});

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
 * Finds the account whose transaction created a contract, directly or by the usual proxy for `CREATE2`. The contract's
 * address commits to that transaction, so that no node has to be believed.
 *
 * @param block the block that created it
 * @returns null when another contract made it, or when it was created in another block
 * @throws RpcFailure when no node answers
 */
export async function makerOf(rpc: ChainRpc, address: Address, block: bigint): Promise<Address | null> {
  const params = [numberToHex(block), true];
  const { transactions } = await rpc.request('eth_getBlockByNumber', params, (it) => Transactions.parse(it));
  const made = transactions.find(({ from, to, nonce, input }) => {
    if (!to) return isAddressEqual(getContractAddress({ from, nonce: BigInt(nonce) }), address);
    if (to !== CREATE2_PROXY || size(input as Hex) <= SALT_BYTES) return false;
    const parts = { salt: sliceHex(input as Hex, 0, SALT_BYTES), bytecode: sliceHex(input as Hex, SALT_BYTES) };
    return isAddressEqual(getContractAddress({ opcode: 'CREATE2', from: to, ...parts }), address);
  });
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
