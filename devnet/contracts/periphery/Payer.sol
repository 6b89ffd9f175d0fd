// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolImmutables} from "../interfaces/PoolTypes.sol";
import {IPool} from "../interfaces/IPool.sol";
import {IPoolFactory} from "../interfaces/IPoolFactory.sol";
import {SafeTransfer} from "../libraries/SafeTransfer.sol";

/// Pays a pool from the user's allowance in its callback. The callback data is abi.encode(user).
abstract contract Payer {
    error OnlyPool();

    IPoolFactory public immutable factory;

    constructor(address factory_) {
        factory = IPoolFactory(factory_);
    }

    function _pay(uint256 amount0, uint256 amount1, bytes calldata data) internal {
        // A pool of the factory calls back with data that this contract gave it.
        if (!factory.isPool(msg.sender)) revert OnlyPool();
        address user = abi.decode(data, (address));
        PoolImmutables memory fixedPart = IPool(msg.sender).getImmutables();
        SafeTransfer.pull(fixedPart.token0, user, msg.sender, amount0);
        SafeTransfer.pull(fixedPart.token1, user, msg.sender, amount1);
    }
}
