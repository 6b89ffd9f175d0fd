import { type Address, type Hex, hexToBytes, keccak256 } from 'viem';
import { delegationOf } from './delegation.ts';
import { dataBytes, HALTS, OP } from './evm-instructions.ts';

/**
 * Why the hash of an account's code does not say what the account does: the node gives no code; it is an EIP-7702
 * designator; it delegates whatever it is asked; or it may delegate to a target that its code does not fix.
 */
export type Distrust = 'unknown' | 'designator' | 'proxy' | 'open';

export interface CodeFacts {
  /** As EXTCODEHASH gives it. */
  readonly hash: Hex;
  /** Null where the hash, with those of the libraries, says what the account does. */
  readonly distrust: Distrust | null;
  /** Contracts whose code it runs as its own, by addresses that are part of its code. */
  readonly libraries: readonly Address[];
}

/** First byte of a designator of EIP-7702, and of no contract. */
const DESIGNATOR = 0xef;

/**
 * What the code of an account says of it.
 *
 * @param mostSteps as {@link delegationOf} counts them; a provider that delegates takes some ten thousand
 */
export function codeFacts(code: Hex, mostSteps = 300_000): CodeFacts {
  const bytes = hexToBytes(code);
  const facts = { hash: keccak256(bytes), distrust: null, libraries: [] };
  if (bytes.length === 0) return { ...facts, distrust: 'unknown' };
  if (bytes[0] === DESIGNATOR) return { ...facts, distrust: 'designator' };
  if (!mayDelegate(bytes)) return facts;
  const delegation = delegationOf(bytes, mostSteps);
  return delegation.kind === 'fixed'
    ? { ...facts, libraries: delegation.libraries }
    : { ...facts, distrust: delegation.kind };
}

/**
 * Whether a delegation is among the instructions, read one after another: those behind a jump or an end run only when a
 * jump lands on them, so that data behind the code does not count.
 */
function mayDelegate(code: Uint8Array): boolean {
  let isReached = true;
  for (let offset = 0; offset < code.length; offset++) {
    const instruction = code[offset] ?? 0;
    if (instruction === OP.jumpDestination) isReached = true;
    if (isReached && (instruction === OP.delegateCall || instruction === OP.callCode)) return true;
    if (instruction === OP.jump || HALTS.has(instruction)) isReached = false;
    offset += dataBytes(instruction);
  }
  return false;
}
