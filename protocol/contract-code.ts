import { type Address, type Hex, hexToBytes } from 'viem';
import { delegationOf } from './delegation.ts';
import { dataBytes, HALTS, OP } from './evm-instructions.ts';

/**
 * Why the hash of an account's code does not determine what the account does. `unknown`: the node gives no code.
 * `designator`: the code is an EIP-7702 designator. `proxy`: it delegates whatever the call. `open`: it may delegate to
 * a target that the code does not fix.
 */
export type Distrust = 'unknown' | 'designator' | 'proxy' | 'open';

export interface CodeFacts {
  /** Null where the code's hash, with the hashes of the libraries, determines what the account does. */
  readonly distrust: Distrust | null;
  /** Contracts whose code it runs as its own, by addresses that are part of its code. */
  readonly libraries: readonly Address[];
}

/** First byte of an EIP-7702 designator; no contract begins with it. */
const DESIGNATOR = 0xef;

/**
 * Reads from an account's code whether its hash determines what the account does.
 *
 * @param mostSteps limit, as {@link delegationOf} counts them; a provider that delegates takes about 10,000
 */
export function codeFacts(code: Hex, mostSteps = 300_000): CodeFacts {
  const bytes = hexToBytes(code);
  const facts = { distrust: null, libraries: [] };
  if (bytes.length === 0) return { ...facts, distrust: 'unknown' };
  if (bytes[0] === DESIGNATOR) return { ...facts, distrust: 'designator' };
  if (!mayDelegate(bytes)) return facts;
  const delegation = delegationOf(bytes, mostSteps);
  return delegation.kind === 'fixed'
    ? { ...facts, libraries: delegation.libraries }
    : { ...facts, distrust: delegation.kind };
}

/**
 * Whether the code has a delegation that may run. Behind a jump or an end, instructions count only from the next jump
 * destination on: data behind the code does not count.
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
