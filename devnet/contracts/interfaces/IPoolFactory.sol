// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolImmutables, PoolStart} from "./PoolTypes.sol";

interface IPoolFactory {
    function isPool(address pool) external view returns (bool);

    function poolAdmin(address pool) external view returns (address);
}

interface IPoolDeployer {
    function deploy(PoolImmutables calldata fixedPart, PoolStart calldata start, bytes32 salt)
        external
        returns (address pool);
}
