import { type Hex, keccak256 } from 'viem';
import { expect, test } from 'vitest';
import { codeFacts } from './contract-code.ts';

const TARGET = 'ab'.repeat(20);

test.each<[string, Hex, boolean]>([
  ['no code', '0x', true],
  ['a minimal proxy (EIP-1167)', `0x363d3d373d3d3d363d73${TARGET}5af43d82803e903d91602b57fd5bf3`, true],
  ['a designator (EIP-7702)', `0xef0100${TARGET}`, true],
  ['CALLCODE', '0x5f5f5f5f5f5f5ff200', true],
  ['a plain answer', '0x602a5f5260205ff3', false],
  ['the byte as the operand of a push', '0x60f460f45000', false],
  ['the byte in data behind the end', '0x602a5f5260205ff3fef4f4f2', false],
  ['the byte behind an end where a jump can land', '0x602a5f5260205ff3fe5bf4', true],
  ['a destination that is an operand', '0x602a5f5260205ff3fe605bf4', false],
  ['a push that is cut off', '0x7ff4', false],
])('%s', (_name, code, mayDelegate) => {
  expect(codeFacts(code)).toEqual({ hash: keccak256(code), mayDelegate });
});
