// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Trades as another pool does, with storage of its own: readers that look for bins there find nothing.
contract BinsElsewhere {
    address private immutable POOL;

    constructor(address pool) {
        POOL = pool;
    }

    function extsload(bytes32[] calldata slots) external view returns (bytes32[] memory words) {
        words = new bytes32[](slots.length);
        for (uint256 i = 0; i < slots.length; i++) {
            bytes32 slot = slots[i];
            bytes32 word;
            assembly ("memory-safe") {
                word := sload(slot)
            }
            words[i] = word;
        }
    }

    fallback() external {
        address pool = POOL;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := call(gas(), pool, 0, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
