// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IMetricOmmSwapCallback, IPool} from "../interfaces/IPool.sol";
import {Payer} from "./Payer.sol";

/// Swaps for its caller, who pays and receives.
contract SwapRouter is Payer, IMetricOmmSwapCallback {
    constructor(address factory_) Payer(factory_) {}

    function swap(IPool pool, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64)
        external
        returns (int128 amount0Delta, int128 amount1Delta)
    {
        return pool.swap(msg.sender, zeroForOne, amountSpecified, priceLimitX64, abi.encode(msg.sender), "");
    }

    function metricOmmSwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata data) external {
        _pay(amount0Delta > 0 ? uint256(amount0Delta) : 0, amount1Delta > 0 ? uint256(amount1Delta) : 0, data);
    }
}
