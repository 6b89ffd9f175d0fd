// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {LiquidityDelta, SwapContext, SwapOutcome} from "./PoolTypes.sol";

/// Hooks of a pool. The caller of a hook is the pool; a revert refuses the operation and reaches the user unwrapped.
interface IPoolExtension {
    /// Called by the factory when it creates a pool with initialization data for this extension.
    function initialize(address pool, bytes calldata data) external;

    function beforeAddLiquidity(
        address sender,
        address owner,
        uint80 salt,
        LiquidityDelta calldata deltas,
        bytes calldata extensionData
    ) external;

    function afterAddLiquidity(
        address sender,
        address owner,
        uint80 salt,
        LiquidityDelta calldata deltas,
        bytes calldata extensionData
    ) external;

    function beforeRemoveLiquidity(
        address sender,
        address owner,
        uint80 salt,
        LiquidityDelta calldata deltas,
        bytes calldata extensionData
    ) external;

    function afterRemoveLiquidity(
        address sender,
        address owner,
        uint80 salt,
        LiquidityDelta calldata deltas,
        bytes calldata extensionData
    ) external;

    function beforeSwap(SwapContext calldata context, bytes calldata extensionData) external;

    function afterSwap(SwapContext calldata context, SwapOutcome calldata outcome, bytes calldata extensionData)
        external;
}
