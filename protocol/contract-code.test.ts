import type { Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { type ContractName, loadArtifact } from '../devnet/artifacts.ts';
import { linked } from '../devnet/link.ts';
import { codeFacts } from './contract-code.ts';
import { POOL_STEPS } from './layouts/packed/read-code.ts';

const TARGET = 'ab'.repeat(20);
const OTHER = 'cd'.repeat(20);
const LIBRARY = `0x${TARGET}`;
/** Areas of memory for a delegation, its gas and itself: the target comes between the two. */
const [AREAS, DELEGATE] = ['5f5f5f5f', '5af4'];

/** Code of instructions in hex, `name:` for a place to jump to, and `@name` to push it. */
function assembled(source: string): Hex {
  const tokens = source.split(/\s+/).filter((token) => token !== '');
  const places = new Map<string, number>();
  let size = 0;
  for (const token of tokens) {
    if (token.endsWith(':')) places.set(`@${token.slice(0, -1)}`, size);
    size += token.endsWith(':') ? 1 : token.startsWith('@') ? 3 : token.length / 2;
  }
  const place = (name: string) => (places.get(name) ?? 0).toString(16).padStart(4, '0');
  const bytes = tokens.map((token) => {
    if (token.endsWith(':')) return '5b';
    return token.startsWith('@') ? `61${place(token)}` : token;
  });
  return `0x${bytes.join('')}`;
}

/** Reads its input before it continues. */
const requested = (then: string): Hex => assembled(`5f35 @go 57 00 go: ${then} 00`);

test.each<[string, Hex, string | null]>([
  ['no code', '0x', 'unknown'],
  ['a minimal proxy (EIP-1167)', `0x363d3d373d3d3d363d73${TARGET}5af43d82803e903d91602b57fd5bf3`, 'proxy'],
  ['a designator (EIP-7702)', `0xef0100${TARGET}`, 'designator'],
  ['CALLCODE', '0x5f5f5f5f5f5f355ff200', 'open'],
  ['a plain answer', '0x602a5f5260205ff3', null],
  ['the byte as the operand of a push', '0x60f460f45000', null],
  ['the byte in data behind the end', '0x602a5f5260205ff3fef4f4f2', null],
  ['a push that is cut off', '0x7ff4', null],
])('%s', (_name, code, distrust) => {
  expect(codeFacts(code)).toEqual({ distrust, libraries: [] });
});

describe('code that delegates', () => {
  test.each([
    ['to a pushed address', `${AREAS} 73${TARGET} ${DELEGATE}`],
    [
      'to one that was pushed in full width and masked',
      `${AREAS} 7f${'00'.repeat(12)}${TARGET} 6001 6001 60a0 1b 03 16 ${DELEGATE}`,
    ],
    [
      'to one that was pushed before a function ran',
      `73${TARGET} @back @function 56 function: 56 back: ${AREAS} 84 ${DELEGATE}`,
    ],
    ['to the same on two ways', `73${TARGET} 5f35 @other 57 other: ${AREAS} 84 ${DELEGATE}`],
    ['in a loop', `73${TARGET} again: ${AREAS} 84 ${DELEGATE} 50 @again 56`],
    [
      'to a place that only data behind the code would jump to',
      `${AREAS} 73${TARGET} ${DELEGATE} 00 5b ${AREAS} 5f54 ${DELEGATE}`,
    ],
    [
      'and jumps into what is pushed, which fails',
      `${AREAS} 73${TARGET} ${DELEGATE} @hidden 56 6a hidden: ${AREAS}5f54${DELEGATE}0000`,
    ],
  ])('is trusted where it delegates %s', (_name, source) => {
    expect(codeFacts(requested(source))).toMatchObject({ distrust: null, libraries: [LIBRARY] });
  });

  test.each([
    ['from storage', `${AREAS} 5f54 ${DELEGATE}`],
    ['from calldata', `${AREAS} 602035 ${DELEGATE}`],
    ['from memory', `73${TARGET} 5f52 ${AREAS} 5f51 ${DELEGATE}`],
    ['from storage, with a pushed address beside it', `${AREAS} 5f54 73${TARGET} 90 ${DELEGATE}`],
    ['from storage, masked', `${AREAS} 5f54 6001 6001 60a0 1b 03 16 ${DELEGATE}`],
    ['that adds to a pushed address', `${AREAS} 73${TARGET} 6001 01 ${DELEGATE}`],
    ['that is subtracted from a pushed address', `${AREAS} 6001 73${TARGET} 03 ${DELEGATE}`],
    ['that is shifted into place', `${AREAS} 72${TARGET.slice(2)} 6008 1b ${DELEGATE}`],
    ['with other bits than those of an address', `${AREAS} 7f01${'00'.repeat(11)}${TARGET} ${DELEGATE}`],
    ['chosen by a jump', `73${TARGET} 5f35 @there 57 50 5f54 there: ${AREAS} 84 ${DELEGATE}`],
    ['behind a jump that is not fixed', `${AREAS} 73${TARGET} ${DELEGATE} 602035 56 5b ${AREAS} 5f54 ${DELEGATE}`],
    ['behind a jump from the place of the code', `${AREAS} 73${TARGET} ${DELEGATE} 58 6003 01 56`],
    ['behind an instruction that a fork may bring', `0c ${AREAS} 73${TARGET} ${DELEGATE}`],
  ])('is not trusted with a target %s', (_name, source) => {
    expect(codeFacts(requested(source))).toMatchObject({ distrust: 'open', libraries: [] });
  });

  test('names the targets of all ways', () => {
    const { libraries } = codeFacts(
      requested(`73${TARGET} 5f35 @there 57 50 73${OTHER} there: ${AREAS} 84 ${DELEGATE}`),
    );
    expect(libraries.toSorted()).toEqual([LIBRARY, `0x${OTHER}`]);
  });

  test('is given up where it has too many ways', () => {
    // Each choice leaves one of two addresses on the stack.
    const choices = Array.from({ length: 20 }, (_, index) => `73${TARGET} 5f35 @w${index} 57 50 73${OTHER} w${index}:`);
    const code = requested(`${choices.join(' ')} ${AREAS} 84 ${DELEGATE}`);
    expect(codeFacts(code).distrust).toBe('open');
  });
});

describe('contracts as the compiler makes them', () => {
  const facts = (name: ContractName) =>
    codeFacts(linked(loadArtifact(name).deployedBytecode, { Decoy, Chained, LinkedCurve }), POOL_STEPS);
  const Decoy = `0x${'d1'.repeat(20)}` as const;
  const Chained = `0x${'c1'.repeat(20)}` as const;
  const LinkedCurve = `0x${'1c'.repeat(20)}` as const;

  test.each<[ContractName, readonly Hex[]]>([
    ['LinkedPackedPool', [LinkedCurve]],
    ['LinksLibraries', [Chained, Decoy]],
    ['Chained', [Decoy]],
    ['Decoy', []],
    ['PackedPool', []],
  ])('%s runs its libraries alone', (name, libraries) => {
    const { distrust, libraries: found } = facts(name);
    expect({ distrust, found: found.toSorted() }).toEqual({ distrust: null, found: libraries });
  });

  test.each<ContractName>([
    'StoredDelegator',
    'AskedDelegator',
    'ComputingDelegator',
    'ChoosingDelegator',
    'JumpingDelegator',
  ])('%s may run other code than that of the library that it links', (name) => {
    expect(facts(name)).toMatchObject({ distrust: 'open', libraries: [] });
  });
});
