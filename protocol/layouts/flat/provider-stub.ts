import { type Address, concatHex, type Hex, toFunctionSelector } from 'viem';

const PROVIDER_SLOT = '0x03';
const ADDRESS_MASK = `0x${'ff'.repeat(20)}` as const;
const IN_SWAP_SELECTOR = toFunctionSelector('inSwap()');
/** Read of the provider's quote; the stub answers any call that is not `inSwap()` with its result. */
export const GET_BID_AND_ASK_SELECTOR = toFunctionSelector('getBidAndAskPrice()');

/** Byte offsets of the jump targets in the code below. */
const HAS_PROVIDER = '0x33';
const IS_IN_SWAP = '0x68';
const SUCCEEDED = '0x64';

/**
 * EVM code to put at a pool's address in an `eth_call`, so that a provider which answers only a pool in the middle of a
 * swap answers the caller: `inSwap()` gives the provider, any other call is passed to it as `getBidAndAskPrice()`. The
 * provider is the pool's own slot 3, or `immutableProvider` where that is zero. An answer that is no pair of words reverts.
 */
export function providerStubCode(immutableProvider: Address): Hex {
  return concatHex([
    ...['0x60', PROVIDER_SLOT, '0x54', '0x73', ADDRESS_MASK, '0x16'], // sload(3) & mask
    ...['0x80', '0x60', HAS_PROVIDER, '0x57'], // keep it when it is not zero
    ...['0x50', '0x73', immutableProvider], // else take the immutable
    '0x5b', // HAS_PROVIDER
    ...['0x5f', '0x35', '0x60', '0xe0', '0x1c', '0x63', IN_SWAP_SELECTOR, '0x14', '0x60', IS_IN_SWAP, '0x57'],
    ...['0x63', GET_BID_AND_ASK_SELECTOR, '0x60', '0xe0', '0x1b', '0x5f', '0x52'], // mstore(0, selector)
    ...['0x5f', '0x5f', '0x60', '0x04', '0x5f', '0x5f', '0x85', '0x5a', '0xf1'], // call(gas, provider, 0, 0, 4, 0, 0)
    ...['0x3d', '0x5f', '0x5f', '0x3e'], // returndatacopy(0, 0, size)
    ...['0x60', '0x3f', '0x3d', '0x11', '0x16', '0x60', SUCCEEDED, '0x57'], // success and size > 63
    ...['0x3d', '0x5f', '0xfd'], // revert with the provider's own reason
    ...['0x5b', '0x3d', '0x5f', '0xf3'], // SUCCEEDED: return its answer
    ...['0x5b', '0x5f', '0x52', '0x60', '0x20', '0x5f', '0xf3'], // IS_IN_SWAP: return the provider
  ] as Hex[]);
}
