// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinMath} from "../libraries/BinMath.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {ExtensionBase} from "./ExtensionBase.sol";
import {StopLossBase} from "./StopLossBase.sol";
import {StopLossSettings} from "./StopLossSettings.sol";

/// What a stop loss of flat pools shows: bins of 8 bits, decay in parts of 10^8.
abstract contract FlatStopLoss is StopLossBase {
    event OracleStopLossHighWatermarkUpdated(
        address indexed pool, int8 binIdx, uint104 newHwmToken0, uint104 newHwmToken1
    );

    error OracleStopLossTriggered(int8 binIdx, bool isToken0Metric, uint256 currentMetric, uint256 threshold);

    constructor() StopLossSettings(1e8, type(uint32).max) {}

    function oracleStopLossConfig(address pool) external view returns (uint32, uint32, uint32, bool) {
        Config memory config = _configs[pool];
        return (config.drawdownE6, uint32(config.decayPerSecond), uint32(config.timelock), config.initialized);
    }

    function highWatermarks(address pool, int8 bin) external view returns (uint104, uint104, uint48) {
        Watermarks memory marks = _watermarks[pool][bin];
        return (marks.token0, marks.token1, marks.updatedAt);
    }

    function _refuse(int256 bin, bool isToken0Metric, uint256 metric, uint256 threshold) internal pure override {
        revert OracleStopLossTriggered(int8(bin), isToken0Metric, metric, threshold);
    }

    function _emitUpdate(int256 bin, Watermarks memory next) internal override {
        emit OracleStopLossHighWatermarkUpdated(msg.sender, int8(bin), next.token0, next.token1);
    }
}

/// Values bins at the arithmetic mean of bid and ask.
contract StopLoss is FlatStopLoss {
    constructor(address factory_) ExtensionBase(factory_) {}

    function _marks(uint128 bidX64, uint128 askX64) internal pure override returns (Marks memory) {
        uint256 mean = (uint256(bidX64) + askX64) / 2;
        return Marks(mean, mean);
    }

    function _metrics(uint256 balance0, uint256 balance1, uint256 shares, Marks memory marks)
        internal
        pure
        override
        returns (uint256, uint256)
    {
        uint256 value0 = balance0 + FullMath.mulDivFloor(balance1, BinMath.Q64, marks.in0X64);
        uint256 value1 = balance1 + FullMath.mulDivFloor(balance0, marks.in1X64, BinMath.Q64);
        return (FullMath.mulDivFloor(value0, E18, shares), FullMath.mulDivFloor(value1, E18, shares));
    }
}
