// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Runs calls to untrusted contracts in one eth_call and isolates them: each call has its own gas limit, its changes
/// are undone before the next call, and only the requested number of bytes of its result is kept. The contract is never
/// deployed: an eth_call runs its creation code with the calls behind it, and the constructor returns the results.
///
/// A call is packed as target (20 bytes), gas limit (4), most bytes to keep (1), length of calldata (2), calldata. A
/// result is packed as gas used in thousands, rounded up (2), state (1), number of bytes kept (1), these bytes. A call
/// is not begun when too little gas is left for its limit. A call with a gas limit of zero is not made: its result is
/// the hash of the target's code.
contract BoundedCalls {
    uint256 private constant HEADER_BYTES = 27;
    /// Header of a call that was not begun: gas, state and number of bytes, all zero.
    uint256 private constant NOT_BEGUN_BYTES = 4;
    uint256 private constant GAS_BYTES = 2;
    /// The EVM charges each byte of the answer as deployed code, and the answer is copied once more.
    uint256 private constant GAS_PER_BYTE = 250;
    uint256 private constant RESERVE = 150_000;
    uint256 private constant ARB_SYS = 0x64;
    uint256 private constant ARB_SYS_GAS = 10_000;

    constructor(uint256 answerBytes, bytes memory calls) {
        address apart = address(new Apart());
        bytes memory results = new bytes(answerBytes);
        uint256 reserve = answerBytes * GAS_PER_BYTE + RESERVE;
        uint256 used = 0;
        for (uint256 offset = 0; offset < calls.length;) {
            uint256 header;
            assembly ("memory-safe") {
                header := mload(add(add(calls, 32), offset))
            }
            uint256 size = HEADER_BYTES + (header >> 40 & 0xffff);
            uint256 limit = header >> 64 & 0xffffffff;
            // Two frames lie between this one and the target, and each keeps back a 64th of its gas.
            if (gasleft() < limit + limit / 24 + reserve) used += NOT_BEGUN_BYTES;
            else used += _run(apart, calls, offset, size, results, used);
            offset += size;
        }
        assembly ("memory-safe") {
            mstore(results, used)
        }
        bytes memory answer = abi.encode(block.chainid, _blockNumber(), block.timestamp, results);
        assembly ("memory-safe") {
            return(add(answer, 32), mload(answer))
        }
    }

    /// On Arbitrum and its kin `block.number` is that of the parent chain. Elsewhere nothing, or something else, answers.
    function _blockNumber() private view returns (uint256 height) {
        height = block.number;
        assembly ("memory-safe") {
            mstore(0, shl(224, 0xa3b1b31d)) // arbBlockNumber()
            let succeeded := staticcall(ARB_SYS_GAS, ARB_SYS, 0, 4, 0, 32)
            if and(succeeded, eq(returndatasize(), 32)) { height := mload(0) }
        }
    }

    function _run(address apart, bytes memory calls, uint256 offset, uint256 size, bytes memory results, uint256 used)
        private
        returns (uint256 length)
    {
        assembly ("memory-safe") {
            let result := add(add(results, 32), used)
            let before := gas()
            pop(call(gas(), apart, 0, add(add(calls, 32), offset), size, 0, 0))
            let spent := div(add(sub(before, gas()), 999), 1000)
            if gt(spent, 0xffff) { spent := 0xffff }
            mstore8(result, shr(8, spent))
            mstore8(add(result, 1), spent)
            returndatacopy(add(result, GAS_BYTES), 0, returndatasize())
            length := add(returndatasize(), GAS_BYTES)
        }
    }
}

/// Makes one call and reverts with its packed result, which undoes whatever the call has done.
contract Apart {
    fallback() external {
        assembly {
            let header := calldataload(0)
            if iszero(and(shr(64, header), 0xffffffff)) {
                mstore8(0, 2)
                mstore8(1, 32)
                mstore(2, extcodehash(shr(96, header)))
                revert(0, 34)
            }
            let size := sub(calldatasize(), 27)
            calldatacopy(0, 27, size)
            let succeeded := call(and(shr(64, header), 0xffffffff), shr(96, header), 0, 0, size, 0, 0)
            let kept := and(shr(56, header), 0xff)
            if lt(returndatasize(), kept) { kept := returndatasize() }
            mstore8(0, add(1, succeeded))
            mstore8(1, kept)
            returndatacopy(2, 0, kept)
            revert(0, add(2, kept))
        }
    }
}
