import type { Hex } from 'viem';
import type { BlockHeader } from '../../chain/read-context.ts';
import { ChainTail } from './chain-tail.ts';

export type Head = { readonly block: BlockHeader };

/** Heights at which branches leave that of the letter before. */
export const forks: Record<string, number> = {};

/** After each test that has branches. */
export function forgetForks(): void {
  for (const fork of Object.keys(forks)) delete forks[fork];
}

const hashOf = (number: number, fork: string): Hex =>
  fork === 'a' || number >= (forks[fork] ?? 0)
    ? `0x${fork}${number}`
    : hashOf(number, String.fromCharCode(fork.charCodeAt(0) - 1));

export const head = (number: number, fork = 'a'): Head => ({
  block: {
    number: BigInt(number),
    hash: hashOf(number, fork),
    timestamp: BigInt(number),
    parents: [hashOf(number - 1, fork)],
  },
});

/** The block of a hash at its height. */
export const blockOf = (hash: Hex, number: bigint): BlockHeader => head(Number(number), hash.charAt(2)).block;

/** The lowest block of one branch that is not on the next one; null when the next one continues it. */
export function replacedBetween(one: Head, next: Head): bigint | null {
  const at = ({ block }: Head, height: bigint): Hex | undefined =>
    height > block.number ? undefined : hashOf(Number(height), block.hash.charAt(2));
  let replaced: bigint | null = null;
  for (let height = one.block.number; height > 0n; height -= 1n) {
    if (at(one, height) !== at(next, height)) replaced = height;
  }
  return replaced;
}

/** Names heads as a listener gets them: `a1`, or `a1 from 1` when blocks were replaced. */
export function namesOfHeads(): (head: Head, branch: ChainTail) => string {
  let last = ChainTail.EMPTY;
  return ({ block }, branch) => {
    const from = last.replacedFrom(branch);
    last = branch;
    return block.hash.slice(2) + (from === null ? '' : ` from ${from}`);
  };
}
