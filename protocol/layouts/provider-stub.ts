import { type Address, type Hex, numberToHex, toFunctionSelector } from 'viem';

/** How a generation asks its providers: the selector, and the words of the answer (at most 7). */
export interface QuoteShape {
  readonly selector: Hex;
  readonly words: number;
}

/** Gas after which a provider counts as failed. */
const PROVIDER_GAS_LIMIT = 3_000_000;
/** With less gas the provider is not called: its limit, the 64th that callers keep, and the caller's other work. */
const ENOUGH_GAS = PROVIDER_GAS_LIMIT + 2_500_000;
const IN_SWAP = toFunctionSelector('inSwap()').slice(2);
const EXTSLOAD = toFunctionSelector('extsload(bytes32[])').slice(2);
const ADDRESS_MASK = 'ff'.repeat(20);
const bytes = (value: number, size: number): string => numberToHex(value, { size }).slice(2);

/**
 * Makes EVM code to put at a pool's address in an `eth_call`: a provider that answers only a pool in the middle of a
 * swap then answers us. `inSwap()` returns the provider, `extsload(bytes32[])` the pool's own storage, and any other
 * call calls the provider with the quote's selector. The provider is the pool's own slot 3, or `immutableProvider`
 * where that is zero. It gets `PROVIDER_GAS_LIMIT`; with too little gas left it is not called and the answer is empty,
 * so that no provider can starve another. The code reverts when the provider's answer has fewer words than the quote.
 */
export function providerStub({ selector, words }: QuoteShape): (immutableProvider: Address) => Hex {
  const quoteBytes = bytes(words * 32, 1);
  const oneLess = bytes(words * 32 - 1, 1);
  // provider = sload(3) & mask; where it is not zero, continue at 0x33, else with the immutable one
  const head = `0x60035473${ADDRESS_MASK}16806033575073`;
  const tail = [
    // 0x33: stack the selector of the call; inSwap() goes to 0x7e, extsload(bytes32[]) to 0x88
    `5b5f3560e01c8063${IN_SWAP}14607e5763${EXTSLOAD}14608857`,
    // enough > gas: go to 0x86
    `5a63${bytes(ENOUGH_GAS, 4)}11608657`,
    // mstore(0, selector of the quote)
    `63${selector.slice(2)}60e01b5f52`,
    // call(limit, provider, 0, 0, 4, 0, quoteBytes)
    `60${quoteBytes}5f60045f5f8563${bytes(PROVIDER_GAS_LIMIT, 4)}f1`,
    // succeeded and returndatasize > oneLess: go to 0x79, else revert(0, 0)
    `60${oneLess}3d11166079575f5ffd`,
    // 0x79: return(0, quoteBytes)
    `5b60${quoteBytes}5ff3`,
    // 0x7e: return the provider
    '5b505f5260205ff3',
    // 0x86: return nothing
    '5b00',
    // 0x88: the calldata without its selector, copied to 0, is the answer with slots in place of words; p = 0x40
    '5b600436038060045f376040',
    // 0x94: until p is its end, at 0xa7: mstore(p, sload(mload(p))), p += 0x20
    '5b8181101560a7578051548152602001609456',
    // 0xa7: return all of it
    '5b505ff3',
  ].join('');
  return (immutableProvider) => `${head}${immutableProvider.slice(2)}${tail}` as Hex;
}
