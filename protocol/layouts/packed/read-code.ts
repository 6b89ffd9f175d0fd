import { type Address, keccak256 } from 'viem';
import { codeFacts } from '../../contract-code.ts';
import type { CodeState, SearchChain } from '../../curve-search.ts';

/** Limit of steps for a pool: those of one of 23,000 bytes, and half as many again. Untrusted providers have fewer. */
export const POOL_STEPS = 3_000_000;
/** Most accounts whose code is read, pool, provider and libraries: each costs a hash at every read. */
const MAX_ACCOUNTS = 10;

/**
 * Reads the code of a pool and its provider, then of the libraries that trusted code links by fixed addresses.
 *
 * @param isUsed whether trust is of any use: if not, only the code of pool and provider is read
 * @returns the code, and whether its hashes determine what it does
 */
export async function readCode(
  chain: Pick<SearchChain, 'codes'>,
  pool: Address,
  provider: Address,
  isUsed: boolean,
): Promise<{ readonly code: CodeState; readonly isTrusted: boolean }> {
  const code = { accounts: [] as Address[], hashes: [] as CodeState['hashes'][number][] };
  let requested = [pool, provider];
  while (requested.length > 0) {
    if (code.accounts.length + requested.length > MAX_ACCOUNTS) return { code, isTrusted: false };
    const codes = await chain.codes(requested);
    code.accounts.push(...requested);
    code.hashes.push(...codes.map((bytes) => keccak256(bytes)));
    if (!isUsed) return { code, isTrusted: false };
    const facts = codes.map((bytes, index) => codeFacts(bytes, requested[index] === pool ? POOL_STEPS : undefined));
    if (facts.some(({ distrust }) => distrust !== null)) return { code, isTrusted: false };
    const linked = new Set(facts.flatMap(({ libraries }) => libraries));
    requested = [...linked].filter((library) => !code.accounts.includes(library));
  }
  return { code, isTrusted: true };
}

/** Whether the same accounts have the same code. */
export function isSameCode(a: CodeState, b: CodeState): boolean {
  return a.accounts.join() === b.accounts.join() && a.hashes.join() === b.hashes.join();
}
