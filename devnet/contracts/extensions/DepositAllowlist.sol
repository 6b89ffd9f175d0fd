// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {LiquidityDelta} from "../interfaces/PoolTypes.sol";
import {ExtensionBase} from "./ExtensionBase.sol";

/// Lets only listed owners deposit. Initialization data: abi.encode(bool allowAll, address[] allowed).
contract DepositAllowlist is ExtensionBase {
    event AllowedToDepositSet(address indexed pool, address indexed depositor, bool allowed);
    event AllowAllDepositorsSet(address indexed pool, bool allowed);

    error NotAllowedToDeposit();

    mapping(address => bool) public allowAllDepositors;
    mapping(address => mapping(address => bool)) public allowedDepositor;

    constructor(address factory_) ExtensionBase(factory_) {}

    function setAllowedToDeposit(address pool, address depositor, bool allowed) external onlyPoolAdmin(pool) {
        _setAllowed(pool, depositor, allowed);
    }

    function setAllowAllDepositors(address pool, bool allowed) external onlyPoolAdmin(pool) {
        _setAllowAll(pool, allowed);
    }

    function beforeAddLiquidity(address, address owner, uint80, LiquidityDelta calldata, bytes calldata)
        external
        view
        override
    {
        if (!allowAllDepositors[msg.sender] && !allowedDepositor[msg.sender][owner]) revert NotAllowedToDeposit();
    }

    function _initialize(address pool, bytes calldata data) internal override {
        (bool allowAll, address[] memory allowed) = abi.decode(data, (bool, address[]));
        _setAllowAll(pool, allowAll);
        for (uint256 i = 0; i < allowed.length; i++) {
            _setAllowed(pool, allowed[i], true);
        }
    }

    function _setAllowAll(address pool, bool allowed) private {
        allowAllDepositors[pool] = allowed;
        emit AllowAllDepositorsSet(pool, allowed);
    }

    function _setAllowed(address pool, address depositor, bool allowed) private {
        allowedDepositor[pool][depositor] = allowed;
        emit AllowedToDepositSet(pool, depositor, allowed);
    }
}
