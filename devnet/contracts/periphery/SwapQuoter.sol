// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IMetricOmmSwapCallback, IPool} from "../interfaces/IPool.sol";

/// Live quotes: starts a swap and reverts in the callback, so it does not see what extensions do afterwards.
contract SwapQuoter is IMetricOmmSwapCallback {
    error Quote(int256 amount0Delta, int256 amount1Delta);

    /// Not a view because the swap runs; call it with eth_call. A refused swap reverts with the pool's error.
    function quote(IPool pool, bool zeroForOne, int128 amountSpecified)
        external
        returns (int256 amount0Delta, int256 amount1Delta)
    {
        uint128 limit = zeroForOne ? 0 : type(uint128).max;
        try pool.swap(address(this), zeroForOne, amountSpecified, limit, "", "") returns (int128, int128) {
            return (0, 0);
        } catch (bytes memory reason) {
            if (reason.length == 68 && bytes4(reason) == Quote.selector) {
                assembly ("memory-safe") {
                    amount0Delta := mload(add(reason, 36))
                    amount1Delta := mload(add(reason, 68))
                }
                return (amount0Delta, amount1Delta);
            }
            assembly ("memory-safe") {
                revert(add(reason, 32), mload(reason))
            }
        }
    }

    function metricOmmSwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata) external pure {
        revert Quote(amount0Delta, amount1Delta);
    }
}
