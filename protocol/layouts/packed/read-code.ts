import { type Address, keccak256 } from 'viem';
import { type CodeFacts, codeFacts } from '../../contract-code.ts';
import type { CodeState, SearchStep } from '../../curve-search.ts';

/** What a pool of 23,000 bytes takes, and half as much again; a provider can be anyone's contract. */
export const POOL_STEPS = 3_000_000;
/** A pool, its provider and their libraries: each costs a hash at every read. */
const MAX_ACCOUNTS = 10;

/**
 * Reads the code of a pool and of its provider, and that of the libraries which are linked into them by fixed addresses, as
 * far as those are trusted.
 *
 * @param isUsed whether anything follows from trust: else the two hashes are all that is read
 * @param next told the code, and whether its hashes say what it does
 */
export function readCode(
  pool: Address,
  provider: Address,
  isUsed: boolean,
  next: (code: CodeState, isTrusted: boolean) => SearchStep,
): SearchStep {
  const read = (before: readonly Address[], facts: readonly CodeFacts[], asked: readonly Address[]): SearchStep => ({
    kind: 'code',
    accounts: asked,
    next(codes) {
      const accounts = [...before, ...asked];
      if (!isUsed) return next({ accounts, hashes: codes.map((code) => keccak256(code)) }, false);
      const own = codes.map((code, index) => codeFacts(code, asked[index] === pool ? POOL_STEPS : undefined));
      const all = [...facts, ...own];
      const code = { accounts, hashes: all.map(({ hash }) => hash) };
      if (all.some(({ distrust }) => distrust !== null)) return next(code, false);
      const linked = [...new Set(all.flatMap(({ libraries }) => libraries))].filter((each) => !accounts.includes(each));
      if (linked.length === 0) return next(code, true);
      return accounts.length + linked.length > MAX_ACCOUNTS ? next(code, false) : read(accounts, all, linked);
    },
  });
  return read([], [], [pool, provider]);
}

/** Whether the same accounts have the same code. */
export function isSameCode(a: CodeState, b: CodeState): boolean {
  const areSame = (some: readonly string[], others: readonly string[]) => some.join() === others.join();
  return areSame(a.accounts, b.accounts) && areSame(a.hashes, b.hashes);
}
