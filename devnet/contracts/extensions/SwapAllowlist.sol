// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {SwapContext} from "../interfaces/PoolTypes.sol";
import {ExtensionBase} from "./ExtensionBase.sol";

/// Lets only listed callers of the pool swap. Initialization data: abi.encode(bool allowAll, address[] allowed).
contract SwapAllowlist is ExtensionBase {
    event AllowedToSwapSet(address indexed pool, address indexed swapper, bool allowed);
    event AllowAllSwappersSet(address indexed pool, bool allowed);

    error NotAllowedToSwap();

    mapping(address => bool) public allowAllSwappers;
    mapping(address => mapping(address => bool)) public allowedSwapper;

    constructor(address factory_) ExtensionBase(factory_) {}

    function setAllowedToSwap(address pool, address swapper, bool allowed) external onlyPoolAdmin(pool) {
        _setAllowed(pool, swapper, allowed);
    }

    function setAllowAllSwappers(address pool, bool allowed) external onlyPoolAdmin(pool) {
        _setAllowAll(pool, allowed);
    }

    function beforeSwap(SwapContext calldata context, bytes calldata) external view override {
        if (!allowAllSwappers[msg.sender] && !allowedSwapper[msg.sender][context.sender]) revert NotAllowedToSwap();
    }

    function _initialize(address pool, bytes calldata data) internal override {
        (bool allowAll, address[] memory allowed) = abi.decode(data, (bool, address[]));
        _setAllowAll(pool, allowAll);
        for (uint256 i = 0; i < allowed.length; i++) {
            _setAllowed(pool, allowed[i], true);
        }
    }

    function _setAllowAll(address pool, bool allowed) private {
        allowAllSwappers[pool] = allowed;
        emit AllowAllSwappersSet(pool, allowed);
    }

    function _setAllowed(address pool, address swapper, bool allowed) private {
        allowedSwapper[pool][swapper] = allowed;
        emit AllowedToSwapSet(pool, swapper, allowed);
    }
}
