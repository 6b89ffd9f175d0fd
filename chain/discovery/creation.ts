import { type Address, getContractAddress, type Hex, isAddressEqual, numberToHex, size } from 'viem';
import { z } from 'zod';
import { HexAddress } from '../../config/scalars.ts';
import type { ChainRpc } from '../chain-rpc.ts';
import { isRefusal } from '../rpc-failure.ts';

/** Transactions of an account that are looked at: their addresses take half a second. */
const MAX_TRANSACTIONS = 10_000;

/** Blocks in which a log is searched, one range after the other: as a rule the first has some. */
const LOG_RANGES = [1n, 100n, 10_000n];

const Hexadecimal = z.templateLiteral(['0x', z.string()]);
const Emitters = z.array(z.object({ address: HexAddress, blockNumber: Hexadecimal }));
const Transactions = z
  .object({ transactions: z.array(z.object({ from: HexAddress, to: HexAddress.nullish(), nonce: Hexadecimal })) })
  .nullable();

/** The block that created a contract, and what that block shows of it; null when it shows nothing. */
export interface Creation<T> {
  readonly block: bigint;
  readonly shown: T | null;
}

/**
 * Finds the block that created a contract, by bisection of its code. About 26 calls, one after the other.
 *
 * A node may answer as if there had been no code in blocks whose state it does not keep. So a block counts only if it
 * shows the contract, or if nodes show code in the blocks before it.
 *
 * @param head a block at which it has code
 * @param show what a block shows of the contract; null when nothing
 * @returns null when the nodes do not keep the state of old blocks
 * @throws RpcFailure when no node answers
 */
export async function findCreation<T>(
  rpc: ChainRpc,
  address: Address,
  head: bigint,
  show: (block: bigint) => Promise<T | null>,
): Promise<Creation<T> | null> {
  try {
    const block = await firstCode(rpc, address, head);
    const shown = await show(block);
    const isSure = shown !== null || block === 0n || (await isCodeShown(rpc, block - 1n));
    return isSure ? { block, shown } : null;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

async function firstCode(rpc: ChainRpc, address: Address, head: bigint): Promise<bigint> {
  let [without, created] = [-1n, head];
  while (created - without > 1n) {
    const middle = (without + created) / 2n;
    if (await hasCode(rpc, address, middle)) created = middle;
    else without = middle;
  }
  return created;
}

async function hasCode(rpc: ChainRpc, address: Address, block: bigint): Promise<boolean> {
  const code = await rpc.request('eth_getCode', [address, numberToHex(block)], (it) => Hexadecimal.parse(it));
  return size(code as Hex) > 0;
}

/** Whether nodes show code at a block or shortly before: the contract that logged last up to that block has some. */
async function isCodeShown(rpc: ChainRpc, block: bigint): Promise<boolean> {
  for (const blocks of LOG_RANGES) {
    const from = block < blocks ? 0n : block - blocks + 1n;
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(block) };
    const last = (await rpc.request('eth_getLogs', [range], (it) => Emitters.parse(it))).at(-1);
    if (last) return hasCode(rpc, last.address, BigInt(last.blockNumber));
    // No contract has logged yet: there is no older state that could be missing.
    if (from === 0n) return true;
  }
  return false;
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
