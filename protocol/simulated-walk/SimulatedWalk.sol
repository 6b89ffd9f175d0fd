// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Walks a side of a pool inside one eth_call: it simulates swaps of ascending amounts until one is rejected. Amounts
/// that round to zero do not end the walk. Then it may search, by halving, between the last amount that was not
/// rejected and the one that was. The contract is never deployed: an eth_call runs its creation code with the
/// walk behind it, and the constructor returns the answer.
///
/// A point is packed as amount (16 bytes; positive an exact input, negative an exact output), gas limit (4 bytes). A
/// record of the answer is an amount (16), the number of bytes kept (1), and these bytes of what the pool reverted
/// with: the amounts of SimulateSwap, int128 both, or a selector, if there is one.
///
/// A fill, or a rounding to zero, counts whatever gas the simulation had. Any other end counts only if the simulation
/// had all of its gas limit. Otherwise it is not recorded, and the walk stops there without being done.
contract SimulatedWalk {
    struct Walk {
        address pool;
        /// Calldata of a first call: storage that was read once costs less in every simulation.
        bytes warming;
        uint256 warmingGas;
        /// Calldata of a simulation, and where its amount stands.
        bytes simulation;
        uint256 amountOffset;
        bytes points;
        /// Most simulations between the last amount and the rejected one.
        uint256 halvings;
    }

    enum End {
        Unknown,
        Fills,
        TooSmall,
        Refused
    }

    uint256 private constant POINT_BYTES = 20;
    uint256 private constant RECORD_BYTES = 49;
    /// The EVM charges each byte of the answer as deployed code, and the answer is copied once more.
    uint256 private constant GAS_PER_BYTE = 220;
    uint256 private constant RESERVE = 60_000;
    /// The most gas that a simulation is likely to take beyond that of the one before it.
    uint256 private constant GROWTH = 80_000;
    bytes4 private constant TOO_SMALL = bytes4(keccak256("FinalAmountIsZero()"));
    bytes4 private constant SIMULATED = bytes4(keccak256("SimulateSwap(int256,int256)"));

    constructor(Walk memory walk) {
        (address pool, bytes memory warming, uint256 warmingGas) = (walk.pool, walk.warming, walk.warmingGas);
        assembly ("memory-safe") {
            pop(staticcall(warmingGas, pool, add(warming, 32), mload(warming), 0, 0))
        }
        (bool done, bytes memory records) = _walk(walk);
        bytes memory answer = abi.encode(block.chainid, block.number, block.timestamp, done, records);
        assembly ("memory-safe") {
            return(add(answer, 32), mload(answer))
        }
    }

    function _walk(Walk memory walk) private returns (bool, bytes memory records) {
        uint256 count = walk.points.length / POINT_BYTES;
        records = new bytes((count + walk.halvings) * RECORD_BYTES);
        uint256 reserve = records.length * GAS_PER_BYTE + RESERVE;
        assembly ("memory-safe") {
            mstore(records, 0)
        }
        End end = End.Fills;
        uint256 spent;
        int256 low;
        for (uint256 index = 0; index < count && _goesOn(end); index++) {
            (int256 amount, uint256 limit) = _point(walk.points, index);
            (end, spent) = _simulate(walk, amount, limit, spent, reserve, records);
            if (end == End.Refused) end = _halve(walk, low, amount, limit, reserve, records);
            else low = amount;
        }
        return (end != End.Unknown, records);
    }

    /// Halves the distance between an amount that was not rejected and one that was, as often as the walk says.
    function _halve(Walk memory walk, int256 low, int256 high, uint256 limit, uint256 reserve, bytes memory records)
        private
        returns (End end)
    {
        uint256 spent;
        end = End.Refused;
        for (uint256 left = walk.halvings; left > 0 && end != End.Unknown; left--) {
            int256 middle = low + (high - low) / 2;
            if (middle == low) break;
            (end, spent) = _simulate(walk, middle, limit, spent, reserve, records);
            if (end == End.Refused) high = middle;
            else low = middle;
        }
        if (end != End.Unknown) end = End.Refused;
    }

    /// An amount that rounds to zero shows nothing about larger ones.
    function _goesOn(End end) private pure returns (bool) {
        return end == End.Fills || end == End.TooSmall;
    }

    function _point(bytes memory points, uint256 index) private pure returns (int256 amount, uint256 limit) {
        assembly ("memory-safe") {
            let word := mload(add(add(points, 32), mul(index, POINT_BYTES)))
            amount := sar(128, word)
            limit := and(shr(96, word), 0xffffffff)
        }
    }

    /// Simulates one amount, if the gas left is likely to be enough, and records how it ended.
    function _simulate(
        Walk memory walk,
        int256 amount,
        uint256 limit,
        uint256 spentBefore,
        uint256 reserve,
        bytes memory records
    ) private returns (End, uint256 spent) {
        uint256 left = gasleft();
        uint256 given = left > reserve ? (left - reserve) / 64 * 63 : 0;
        if (given > limit) given = limit;
        else if (given < spentBefore + GROWTH) return (End.Unknown, 0);
        (bool success, uint256 size, bytes4 selector, int256 delta0, int256 delta1) = _call(walk, amount, given);
        spent = left - gasleft();
        bool isTold = !success && size >= 4;
        bool fills = isTold && size >= 68 && selector == SIMULATED && delta0 == int128(delta0) && delta1 == int128(delta1);
        if (fills) {
            _append(records, amount, 32, bytes32(uint256(delta0) << 128 | uint128(int128(delta1))));
            return (End.Fills, spent);
        }
        bool tooSmall = isTold && selector == TOO_SMALL;
        if (given < limit && !tooSmall) return (End.Unknown, 0);
        _append(records, amount, isTold ? 4 : 0, selector);
        return (tooSmall ? End.TooSmall : End.Refused, spent);
    }

    function _call(Walk memory walk, int256 amount, uint256 given)
        private
        returns (bool success, uint256 size, bytes4 selector, int256 delta0, int256 delta1)
    {
        (bytes memory data, address pool, uint256 offset) = (walk.simulation, walk.pool, walk.amountOffset);
        assembly ("memory-safe") {
            mstore(add(add(data, 32), offset), amount)
            let out := mload(0x40)
            success := call(given, pool, 0, add(data, 32), mload(data), out, 68)
            size := returndatasize()
            selector := and(mload(out), shl(224, 0xffffffff))
            delta0 := mload(add(out, 4))
            delta1 := mload(add(out, 36))
        }
    }

    function _append(bytes memory records, int256 amount, uint256 size, bytes32 kept) private pure {
        assembly ("memory-safe") {
            let length := mload(records)
            let end := add(add(records, 32), length)
            mstore(end, or(shl(128, amount), shl(120, size)))
            mstore(add(end, 17), kept)
            mstore(records, add(add(length, 17), size))
        }
    }
}
