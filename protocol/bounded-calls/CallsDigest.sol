// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Put at an address without code by a state override. Makes calls in order, each with its own gas limit, and reverts
/// with their results, which undoes whatever the calls have done. Where the SHA-256 of these results is the known one,
/// it reverts with that in their place. Behind them is a word of the gas that they took. With too little gas for any
/// calls of a pool it makes none and returns nothing.
///
/// The calldata is the known SHA-256 (32 bytes), then the calls. A call is packed as gas limit (4 bytes), target (20),
/// most bytes to keep (2), length of calldata (2), calldata. A result is packed as a word of success, a word of the
/// number of bytes kept, these bytes. A call with a gas limit of zero is not made: its result is the hash of the
/// target's code.
contract CallsDigest {
    fallback() external {
        assembly {
            let before := gas()
            if gt(8000000, before) { stop() }
            let end := 0
            for { let offset := 32 } lt(offset, calldatasize()) { } {
                let header := calldataload(offset)
                let target := and(shr(64, header), 0xffffffffffffffffffffffffffffffffffffffff)
                let size := and(shr(32, header), 0xffff)
                let limit := shr(224, header)
                let kept := 32
                let data := add(end, 64)
                switch limit
                case 0 {
                    mstore(end, 1)
                    mstore(data, extcodehash(target))
                }
                default {
                    calldatacopy(data, add(offset, 28), size)
                    mstore(end, call(limit, target, 0, data, size, 0, 0))
                    kept := and(shr(48, header), 0xffff)
                    if lt(returndatasize(), kept) { kept := returndatasize() }
                    returndatacopy(data, 0, kept)
                }
                mstore(add(end, 32), kept)
                end := add(data, kept)
                offset := add(add(offset, 28), size)
            }
            pop(staticcall(gas(), 2, 0, end, end, 32))
            let begin := 0
            if eq(mload(end), calldataload(0)) {
                begin := end
                end := add(end, 32)
            }
            mstore(end, sub(before, gas()))
            revert(begin, sub(add(end, 32), begin))
        }
    }
}
