import { type Hex, hexToBytes, keccak256, size } from 'viem';

const DELEGATE_CALL = 0xf4;
const CALL_CODE = 0xf2;
const JUMP_DEST = 0x5b;
const PUSH_1 = 0x60;
const PUSH_32 = 0x7f;
/** STOP, JUMP, RETURN, REVERT, INVALID, SELFDESTRUCT: execution does not go on behind them. */
const ENDS = new Set([0x00, 0x56, 0xf3, 0xfd, 0xfe, 0xff]);
/** First byte of a designator of EIP-7702, and of no contract. */
const DESIGNATOR = 0xef;

export interface CodeFacts {
  /** As EXTCODEHASH gives it. */
  readonly hash: Hex;
  /**
   * Whether the account may run code of others as its own, so that its hash does not say what it does: a proxy, an EIP-7702
   * designator, or no code at all. Data behind the code is not taken for instructions unless a jump could land in it.
   */
  readonly mayDelegate: boolean;
}

/** What the code of an account says of it. */
export function codeFacts(code: Hex): CodeFacts {
  return { hash: keccak256(code), mayDelegate: size(code) === 0 || reachesDelegation(hexToBytes(code)) };
}

/** Reads the instructions one after another: those behind an end run only when a jump lands on them. */
function reachesDelegation(code: Uint8Array): boolean {
  if (code[0] === DESIGNATOR) return true;
  let isReached = true;
  for (let offset = 0; offset < code.length; offset++) {
    const instruction = code[offset] ?? 0;
    if (instruction === JUMP_DEST) isReached = true;
    if (isReached && (instruction === DELEGATE_CALL || instruction === CALL_CODE)) return true;
    if (ENDS.has(instruction)) isReached = false;
    if (instruction >= PUSH_1 && instruction <= PUSH_32) offset += instruction - PUSH_1 + 1;
  }
  return false;
}
