// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolImmutables, PoolStart} from "./interfaces/PoolTypes.sol";
import {IPoolDeployer} from "./interfaces/IPoolFactory.sol";
import {Pool} from "./Pool.sol";

/// Holds the pool's code, so that the factory needs not.
contract PoolDeployer is IPoolDeployer {
    error OnlyFactory();

    address public immutable factory;

    constructor(address factory_) {
        factory = factory_;
    }

    function deploy(PoolImmutables calldata fixedPart, PoolStart calldata start, bytes32 salt)
        external
        returns (address pool)
    {
        if (msg.sender != factory) revert OnlyFactory();
        return address(new Pool{salt: salt}(fixedPart, start));
    }
}
