// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {LiquidityDelta} from "../interfaces/PoolTypes.sol";
import {ExtensionBase} from "./ExtensionBase.sol";

/// A custom extension, unknown to readers: announces removals, refuses them while the admin has closed the door.
contract RemovalLog is ExtensionBase {
    event RemovalAnnounced(address indexed pool, address indexed owner, uint256 bins);
    event RemovalsClosed(address indexed pool, bool closed);

    error RemovalsAreClosed();

    mapping(address => bool) public closed;

    constructor(address factory_) ExtensionBase(factory_) {}

    function setClosed(address pool, bool value) external onlyPoolAdmin(pool) {
        closed[pool] = value;
        emit RemovalsClosed(pool, value);
    }

    function beforeRemoveLiquidity(address, address owner, uint80, LiquidityDelta calldata deltas, bytes calldata)
        external
        override
    {
        if (closed[msg.sender]) revert RemovalsAreClosed();
        emit RemovalAnnounced(msg.sender, owner, deltas.binIdxs.length);
    }

    function _initialize(address pool, bytes calldata data) internal override {
        closed[pool] = abi.decode(data, (bool));
        emit RemovalsClosed(pool, closed[pool]);
    }
}
