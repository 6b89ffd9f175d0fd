// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {LiquidityDelta, SwapContext, SwapOutcome} from "../interfaces/PoolTypes.sol";
import {IPoolExtension} from "../interfaces/IPoolExtension.sol";
import {PoolState} from "./PoolState.sol";

/// Calls of a pool's extensions in the order of each phase.
abstract contract PoolExtensions is PoolState {
    error ExtensionCallFailed();

    function _runLiquidityHook(
        uint256 order,
        bytes4 hook,
        address owner,
        uint80 salt,
        LiquidityDelta calldata deltas,
        bytes calldata extensionData
    ) internal {
        if (order == 0) return;
        _run(order, abi.encodeWithSelector(hook, msg.sender, owner, salt, deltas, extensionData));
    }

    function _runBeforeSwap(SwapContext memory context, bytes calldata extensionData) internal {
        if (BEFORE_SWAP_ORDER == 0) return;
        _run(BEFORE_SWAP_ORDER, abi.encodeCall(IPoolExtension.beforeSwap, (context, extensionData)));
    }

    function _runAfterSwap(SwapContext memory context, SwapOutcome memory outcome, bytes calldata extensionData)
        internal
    {
        if (AFTER_SWAP_ORDER == 0) return;
        _run(AFTER_SWAP_ORDER, abi.encodeCall(IPoolExtension.afterSwap, (context, outcome, extensionData)));
    }

    function _run(uint256 order, bytes memory data) private {
        for (; order & 7 != 0; order >>= 3) {
            (bool ok, bytes memory reason) = _extension(order & 7).call(data);
            if (ok) continue;
            if (reason.length == 0) revert ExtensionCallFailed();
            // The extension's own error reaches the caller unwrapped.
            assembly ("memory-safe") {
                revert(add(reason, 32), mload(reason))
            }
        }
    }

    function _extension(uint256 number) private view returns (address) {
        if (number == 1) return EXTENSION1;
        if (number == 2) return EXTENSION2;
        if (number == 3) return EXTENSION3;
        if (number == 4) return EXTENSION4;
        if (number == 5) return EXTENSION5;
        if (number == 6) return EXTENSION6;
        return EXTENSION7;
    }
}
