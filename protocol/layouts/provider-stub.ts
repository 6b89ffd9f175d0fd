import { type Address, concatHex, type Hex, numberToHex, toFunctionSelector } from 'viem';

const PROVIDER_SLOT = '0x03';
const ADDRESS_MASK = `0x${'ff'.repeat(20)}` as const;
const IN_SWAP_SELECTOR = toFunctionSelector('inSwap()');
const EXTSLOAD_SELECTOR = toFunctionSelector('extsload(bytes32[])');

/** How a generation asks its providers: the selector, and the words of the answer (at most 7). */
export interface QuoteShape {
  readonly selector: Hex;
  readonly words: number;
}

/** Gas after which a provider counts as failed. */
export const PROVIDER_GAS_LIMIT = 3_000_000;
/** Gas without which it is not asked: its limit, the 64th that the caller keeps, and what the caller still has to do. */
const ENOUGH_GAS = PROVIDER_GAS_LIMIT + 2_500_000;
const fourBytes = (value: number): Hex => numberToHex(value, { size: 4 });

/** Byte offsets of the jump targets in the code below. */
const HAS_PROVIDER = '0x33';
const SUCCEEDED = '0x79';
const IS_IN_SWAP = '0x7e';
const SPARED = '0x86';
const EXTSLOAD = '0x88';
const NEXT_WORD = '0x94';
const DONE = '0xa7';

/**
 * EVM code to put at a pool's address in an `eth_call`, so that a provider which answers only a pool in the middle of a
 * swap answers the caller: `inSwap()` gives the provider, `extsload(bytes32[])` the pool's own storage, and any other call
 * is passed to the provider as its quote's selector. The provider is the pool's own slot 3, or `immutableProvider` where
 * that is zero. It has `PROVIDER_GAS_LIMIT`; where the gas left is less, it is not asked and the answer is empty, so that
 * no provider can starve another. It reverts when the answer has fewer words than the quote.
 */
export function providerStub({ selector, words }: QuoteShape): (immutableProvider: Address) => Hex {
  const quoteBytes = numberToHex(words * 32, { size: 1 });
  const oneLess = numberToHex(words * 32 - 1, { size: 1 });
  const head = concatHex([
    '0x60',
    PROVIDER_SLOT,
    '0x54',
    '0x73',
    ADDRESS_MASK,
    '0x16', // sload(3) & mask
    '0x80',
    '0x60',
    HAS_PROVIDER,
    '0x57', // keep it when it is not zero
    '0x50',
    '0x73', // else take the immutable
  ] as Hex[]);
  const tail = concatHex([
    '0x5b', // HAS_PROVIDER
    '0x5f',
    '0x35',
    '0x60',
    '0xe0',
    '0x1c', // selector
    '0x80',
    '0x63',
    IN_SWAP_SELECTOR,
    '0x14',
    '0x60',
    IS_IN_SWAP,
    '0x57',
    '0x63',
    EXTSLOAD_SELECTOR,
    '0x14',
    '0x60',
    EXTSLOAD,
    '0x57',
    '0x5a',
    '0x63',
    fourBytes(ENOUGH_GAS),
    '0x11',
    '0x60',
    SPARED,
    '0x57', // enough > gas
    '0x63',
    selector,
    '0x60',
    '0xe0',
    '0x1b',
    '0x5f',
    '0x52', // mstore(0, selector)
    '0x60',
    quoteBytes,
    '0x5f',
    '0x60',
    '0x04',
    '0x5f',
    '0x5f',
    '0x85', // provider, value 0, 4 bytes in, a quote out
    '0x63',
    fourBytes(PROVIDER_GAS_LIMIT),
    '0xf1', // call
    '0x60',
    oneLess,
    '0x3d',
    '0x11',
    '0x16',
    '0x60',
    SUCCEEDED,
    '0x57', // success and no word missing
    '0x5f',
    '0x5f',
    '0xfd', // revert
    '0x5b',
    '0x60',
    quoteBytes,
    '0x5f',
    '0xf3', // SUCCEEDED: return the quote
    '0x5b',
    '0x50',
    '0x5f',
    '0x52',
    '0x60',
    '0x20',
    '0x5f',
    '0xf3', // IS_IN_SWAP: return the provider
    '0x5b',
    '0x00', // SPARED: return nothing
    '0x5b',
    '0x60',
    '0x04',
    '0x36',
    '0x03', // EXTSLOAD: size of the calldata without selector,
    '0x80',
    '0x60',
    '0x04',
    '0x5f',
    '0x37',
    '0x60',
    '0x40', // copied to 0: the answer, slots in place of words
    '0x5b',
    '0x81',
    '0x81',
    '0x10',
    '0x15',
    '0x60',
    DONE,
    '0x57', // NEXT_WORD: until the end
    '0x80',
    '0x51',
    '0x54',
    '0x81',
    '0x52', // mstore(p, sload(mload(p)))
    '0x60',
    '0x20',
    '0x01',
    '0x60',
    NEXT_WORD,
    '0x56',
    '0x5b',
    '0x50',
    '0x5f',
    '0xf3', // DONE: return all of it
  ] as Hex[]).slice(2);
  return (immutableProvider) => `${head}${immutableProvider.slice(2)}${tail}`;
}
