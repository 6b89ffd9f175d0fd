// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {LiquidityDelta} from "../interfaces/PoolTypes.sol";
import {IMetricOmmModifyLiquidityCallback, IPool} from "../interfaces/IPool.sol";
import {Payer} from "./Payer.sol";

/// Adds liquidity for its caller, who owns the shares.
contract LiquidityAdder is Payer, IMetricOmmModifyLiquidityCallback {
    constructor(address factory_) Payer(factory_) {}

    function addLiquidity(IPool pool, uint80 salt, LiquidityDelta calldata deltas)
        external
        returns (uint256 amount0, uint256 amount1)
    {
        return pool.addLiquidity(msg.sender, salt, deltas, abi.encode(msg.sender), "");
    }

    function metricOmmModifyLiquidityCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        _pay(amount0, amount1, data);
    }
}
