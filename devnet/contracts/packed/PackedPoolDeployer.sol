// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolImmutables, PoolStart} from "../interfaces/PoolTypes.sol";
import {IPoolDeployer} from "../interfaces/IPoolFactory.sol";
import {PackedVariant} from "./PackedTypes.sol";

/// Deploys pools of one variant. Their creation code is larger than a contract may be: two others hold its halves.
contract PackedPoolDeployer is IPoolDeployer {
    error OnlyFactory();
    error CreationFailed();

    address public immutable factory;
    address private immutable firstHalf;
    address private immutable secondHalf;
    PackedVariant private variant;

    constructor(address factory_, PackedVariant memory variant_, bytes memory poolCode) {
        factory = factory_;
        variant = variant_;
        uint256 middle = poolCode.length / 2;
        firstHalf = _store(poolCode, 0, middle);
        secondHalf = _store(poolCode, middle, poolCode.length - middle);
    }

    function deploy(PoolImmutables calldata fixedPart, PoolStart calldata start, bytes32 salt)
        external
        returns (address pool)
    {
        if (msg.sender != factory) revert OnlyFactory();
        bytes memory code = bytes.concat(firstHalf.code, secondHalf.code, abi.encode(fixedPart, start, variant));
        assembly ("memory-safe") {
            pool := create2(0, add(code, 32), mload(code), salt)
        }
        if (pool == address(0)) revert CreationFailed();
    }

    /// Creates a contract whose code is a part of the bytes.
    function _store(bytes memory data, uint256 from, uint256 length) private returns (address holder) {
        bytes memory part = new bytes(length);
        assembly ("memory-safe") {
            mcopy(add(part, 32), add(add(data, 32), from), length)
        }
        // PUSH2 length, DUP1, PUSH1 10, PUSH0, CODECOPY, PUSH0, RETURN, then the code.
        bytes memory creation = bytes.concat(hex"61", bytes2(uint16(length)), hex"80600a5f395ff3", part);
        assembly ("memory-safe") {
            holder := create(0, add(creation, 32), mload(creation))
        }
        if (holder == address(0)) revert CreationFailed();
    }
}
