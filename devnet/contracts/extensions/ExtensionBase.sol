// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {LiquidityDelta, SwapContext, SwapOutcome} from "../interfaces/PoolTypes.sol";
import {IPoolExtension} from "../interfaces/IPoolExtension.sol";
import {IPoolFactory} from "../interfaces/IPoolFactory.sol";

/// Hooks that do nothing, and who may configure: an extension overrides what it needs. State is kept per pool, and the
/// pool is the caller of a hook, so hooks need no further check.
abstract contract ExtensionBase is IPoolExtension {
    error OnlyFactory();
    error OnlyPoolAdmin();

    IPoolFactory public immutable factory;

    modifier onlyPoolAdmin(address pool) {
        if (msg.sender != factory.poolAdmin(pool)) revert OnlyPoolAdmin();
        _;
    }

    constructor(address factory_) {
        factory = IPoolFactory(factory_);
    }

    function initialize(address pool, bytes calldata data) external {
        if (msg.sender != address(factory)) revert OnlyFactory();
        _initialize(pool, data);
    }

    function beforeAddLiquidity(address, address, uint80, LiquidityDelta calldata, bytes calldata) external virtual {}

    function afterAddLiquidity(address, address, uint80, LiquidityDelta calldata, bytes calldata) external virtual {}

    function beforeRemoveLiquidity(address, address, uint80, LiquidityDelta calldata, bytes calldata)
        external
        virtual
    {}

    function afterRemoveLiquidity(address, address, uint80, LiquidityDelta calldata, bytes calldata)
        external
        virtual
    {}

    function beforeSwap(SwapContext calldata, bytes calldata) external virtual {}

    function afterSwap(SwapContext calldata, SwapOutcome calldata, bytes calldata) external virtual {}

    function _initialize(address pool, bytes calldata data) internal virtual;
}
