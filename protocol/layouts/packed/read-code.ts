import { type Address, keccak256 } from 'viem';
import { type CodeFacts, codeFacts, type Distrust } from '../../contract-code.ts';
import type { CodeState, SearchStep } from '../../curve-search.ts';

/** What a pool of 23,000 bytes takes, and half as much again; a provider can be anyone's contract. */
export const POOL_STEPS = 3_000_000;
/** A pool, its provider and their libraries: each costs a hash at every read. */
const MOST_ACCOUNTS = 10;

const CAUSES: Readonly<Record<Distrust, string>> = {
  unknown: 'has no code that the node gives',
  designator: 'is an EIP-7702 designator',
  proxy: 'is a proxy',
  open: 'may delegate to a target that is not fixed in its code',
};

/** Reads what the code of a pool and of its provider is, whatever it does. */
export function readHashes(accounts: readonly [Address, Address], next: (code: CodeState) => SearchStep): SearchStep {
  return {
    kind: 'code',
    accounts,
    next: (codes) => next({ accounts, hashes: codes.map((code) => keccak256(code)) }),
  };
}

/**
 * Reads the code of a pool and of its provider, and that of the libraries which are linked into them by fixed addresses, as
 * far as those are trusted.
 *
 * @param next told the code, and why its hashes do not say what it does; null where they do
 */
export function readCode(
  [pool, provider]: readonly [Address, Address],
  next: (code: CodeState, distrust: string | null) => SearchStep,
): SearchStep {
  const read = (before: readonly Address[], facts: readonly CodeFacts[], asked: readonly Address[]): SearchStep => ({
    kind: 'code',
    accounts: asked,
    next(codes) {
      const accounts = [...before, ...asked];
      const all = [
        ...facts,
        ...codes.map((code, index) => codeFacts(code, asked[index] === pool ? POOL_STEPS : undefined)),
      ];
      const code = { accounts, hashes: all.map(({ hash }) => hash) };
      const index = all.findIndex(({ distrust }) => distrust !== null);
      const cause = all[index]?.distrust;
      if (cause) return next(code, `${['the pool', 'its provider'][index] ?? 'a linked library'} ${CAUSES[cause]}`);
      const linked = [...new Set(all.flatMap(({ libraries }) => libraries))].filter((each) => !accounts.includes(each));
      if (linked.length === 0) return next(code, null);
      if (accounts.length + linked.length > MOST_ACCOUNTS) return next(code, 'too many libraries are linked');
      return read(accounts, all, linked);
    },
  });
  return read([], [], [pool, provider]);
}

export function isSameCode(a: CodeState, b: CodeState): boolean {
  const areSame = (some: readonly string[], others: readonly string[]) => some.join() === others.join();
  return areSame(a.accounts, b.accounts) && areSame(a.hashes, b.hashes);
}
