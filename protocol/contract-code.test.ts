import { type Hex, keccak256, zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { type ContractName, loadArtifact } from '../devnet/artifacts.ts';
import { linked } from '../devnet/link.ts';
import { codeFacts } from './contract-code.ts';

const TARGET = 'ab'.repeat(20);
/** Areas of memory for a delegation, its gas and itself: the target comes between the two. */
const [AREAS, DELEGATE] = ['5f5f5f5f', '5af400'];

test.each<[string, Hex]>([
  ['no code', '0x'],
  ['a designator (EIP-7702)', `0xef0100${TARGET}`],
  ['CALLCODE of what it is asked', '0x5f5f5f5f5f5f355ff200'],
  ['a delegation from storage', `0x${AREAS}5f54${DELEGATE}`],
  ['a delegation from storage, masked', `0x${AREAS}5f5473${'ff'.repeat(20)}16${DELEGATE}`],
  ['a delegation from storage, with an address in data behind the end', `0x${AREAS}5f54${DELEGATE}73${TARGET}`],
])('%s is not trusted', (_name, code) => {
  expect(codeFacts(code)).toEqual({ hash: keccak256(code), isTrusted: false, libraries: [] });
});

test.each<[string, Hex]>([
  ['a plain answer', '0x602a5f5260205ff3'],
  ['the byte as the operand of a push', '0x60f460f45000'],
  ['the byte in data behind the end', '0x602a5f5260205ff3fef4f4f2'],
  ['a push that is cut off', '0x7ff4'],
  ['an address, and no delegation', `0x73${TARGET}00`],
])('%s is trusted without libraries', (_name, code) => {
  expect(codeFacts(code)).toEqual({ hash: keccak256(code), isTrusted: true, libraries: [] });
});

test.each<[string, Hex]>([
  ['a minimal proxy (EIP-1167)', `0x363d3d373d3d3d363d73${TARGET}5af43d82803e903d91602b57fd5bf3`],
  ['a delegation to a pushed address', `0x${AREAS}73${TARGET}${DELEGATE}`],
  ['one behind a jump', `0x73${TARGET}601b565b${AREAS}84${DELEGATE}`],
])('%s is trusted with its library', (_name, code) => {
  expect(codeFacts(code)).toEqual({ hash: keccak256(code), isTrusted: true, libraries: [`0x${TARGET}`] });
});

describe('contracts as the compiler makes them', () => {
  const [Decoy, Chained, LinkedCurve] = ['d1', 'c1', '1c'].map((byte): Hex => `0x${byte.repeat(20)}`) as [
    Hex,
    Hex,
    Hex,
  ];

  test.each<[ContractName, readonly Hex[]]>([
    ['LinkedPackedPool', [LinkedCurve]],
    ['LinksLibraries', [Chained, Decoy]],
    // A library holds its own address, which is filled in when it is deployed.
    ['Chained', [zeroAddress, Decoy]],
    ['Decoy', []],
    ['PackedPool', []],
  ])('%s runs its libraries', (name, libraries) => {
    const code = linked(loadArtifact(name).deployedBytecode, { Decoy, Chained, LinkedCurve });
    const { isTrusted, libraries: found } = codeFacts(code);
    expect({ isTrusted, found: found.toSorted() }).toEqual({ isTrusted: true, found: libraries });
  });
});
