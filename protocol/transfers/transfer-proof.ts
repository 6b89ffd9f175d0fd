import { type Address, concatHex, encodeFunctionData, type Hex, parseAbi, size } from 'viem';
import { wordAt } from '../abi-words.ts';
import type { BoundedCall, CallResult } from '../bounded-calls/bounded-calls.ts';
import { TRANSFER_PROOF_CODE } from './transfer-proof-code.ts';

/** The account that pools send to, and that sends back. It has code only by a state override. */
const ACCOUNT: Address = '0x7a4e5fe47a4e5fe47a4e5fe47a4e5fe47a4e5fe4';
/** A minimal proxy (ERC-1167) to that code. */
const POOL_CODE = concatHex(['0x363d3d373d3d3d363d73', ACCOUNT, '0x5af43d82803e903d91602b57fd5bf3']);
const ABI = parseAbi(['function prove(address token, uint256 most)']);
const WORDS = 3;
/** Likely gas, measured, of a token that moves the whole amount at once; the limit is for all attempts of a search. */
const PROOF = { likelyGas: 170_000, gasLimit: 4_000_000, keptBytes: WORDS * 32 };

/** How much of a token a pool was seen to move, raw units. */
export interface Moved {
  /** What was tried: less than was asked for where the pool has less. */
  readonly amount: bigint;
  /** The most of it that arrives whole when the pool sends it, and when it is sent back to the pool. */
  readonly sent: bigint;
  readonly received: bigint;
}

/** Code to put in place of pools for {@link transferCall}. */
export const transferCode = (pools: readonly Address[]): ReadonlyMap<Address, Hex> =>
  new Map([[ACCOUNT, TRANSFER_PROOF_CODE], ...pools.map((pool): [Address, Hex] => [pool, POOL_CODE])]);

/** Asks the code in place of a pool to send up to this much of a token, raw units, and to have it sent back. */
export function transferCall(pool: Address, token: Address, most: bigint): BoundedCall {
  return { target: pool, data: encodeFunctionData({ abi: ABI, args: [token, most] }), ...PROOF };
}

/** Reads a result of {@link transferCall}: a token that took all the gas moves nothing. */
export function readMoved({ success, data }: CallResult, most: bigint): Moved {
  if (!success || size(data) < WORDS * 32) return { amount: most, sent: 0n, received: 0n };
  return { amount: wordAt(data, 0), sent: wordAt(data, 1), received: wordAt(data, 2) };
}
