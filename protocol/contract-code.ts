import { type Address, bytesToHex, type Hex, hexToBytes, keccak256 } from 'viem';

export interface CodeFacts {
  /** As EXTCODEHASH gives it. */
  readonly hash: Hex;
  /** Whether the hash, with those of the libraries, says what code the account runs. */
  readonly isTrusted: boolean;
  /** Addresses written into code that delegates: those that it runs the code of are among them. */
  readonly libraries: readonly Address[];
}

const [JUMP, JUMP_DESTINATION, PUSH1, PUSH20, PUSH32, CALL_CODE, DELEGATE_CALL] = [
  0x56, 0x5b, 0x60, 0x73, 0x7f, 0xf2, 0xf4,
];
/** Behind these, code runs only from a jump destination on: JUMP, STOP, RETURN, REVERT, INVALID, SELFDESTRUCT. */
const ENDS: ReadonlySet<number> = new Set([JUMP, 0x00, 0xf3, 0xfd, 0xfe, 0xff]);
/** First byte of a designator of EIP-7702, and of no contract. */
const DESIGNATOR = 0xef;
/** Pushed as a mask. */
const ALL_ONES: Address = '0xffffffffffffffffffffffffffffffffffffffff';

/**
 * What the code of an account says of it. Code that delegates and holds no address runs what its storage or its caller says,
 * as a proxy does: it is not trusted, nor is a designator of EIP-7702 or code that the node does not give. Code of pools is
 * their factory's: code made to hide where it delegates is not looked for.
 */
export function codeFacts(code: Hex): CodeFacts {
  const bytes = hexToBytes(code);
  const { delegates, addresses } = scan(bytes);
  const isKnown = bytes.length > 0 && bytes[0] !== DESIGNATOR;
  return {
    hash: keccak256(bytes),
    isTrusted: isKnown && (!delegates || addresses.length > 0),
    libraries: delegates ? addresses : [],
  };
}

/** Reads instructions one after another. Those behind an end count from a jump destination on: data is left out. */
function scan(code: Uint8Array): { readonly delegates: boolean; readonly addresses: readonly Address[] } {
  const addresses = new Set<Address>();
  let delegates = false;
  let isReached = true;
  for (let offset = 0; offset < code.length; offset++) {
    const instruction = code[offset] ?? 0;
    const end = offset + pushedBytes(instruction);
    if (instruction === JUMP_DESTINATION) isReached = true;
    if (isReached && (instruction === DELEGATE_CALL || instruction === CALL_CODE)) delegates = true;
    if (isReached && instruction === PUSH20) addresses.add(bytesToHex(code.subarray(offset + 1, end + 1)));
    if (ENDS.has(instruction)) isReached = false;
    offset = end;
  }
  addresses.delete(ALL_ONES);
  return { delegates, addresses: [...addresses] };
}

const pushedBytes = (instruction: number): number =>
  instruction >= PUSH1 && instruction <= PUSH32 ? instruction - PUSH1 + 1 : 0;
