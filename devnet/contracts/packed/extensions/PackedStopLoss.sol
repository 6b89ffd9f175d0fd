// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {ExtensionBase} from "../../extensions/ExtensionBase.sol";
import {StopLossAtBidAsk} from "../../extensions/StopLossAtBidAsk.sol";
import {StopLossSettings} from "../../extensions/StopLossSettings.sol";

/// The stop loss of packed pools: bins of 16 bits, decay in parts of 10^18.
contract PackedStopLoss is StopLossAtBidAsk {
    event OracleStopLossHighWatermarkUpdated(
        address indexed pool, int16 binIdx, uint104 newHwmToken0, uint104 newHwmToken1
    );

    error OracleStopLossTriggered(int16 binIdx, bool isToken0Metric, uint256 currentMetric, uint256 threshold);

    constructor(address factory_) ExtensionBase(factory_) StopLossSettings(E18, type(uint40).max) {}

    function oracleStopLossConfig(address pool) external view returns (uint32, uint64, uint40, bool) {
        Config memory config = _configs[pool];
        return (config.drawdownE6, config.decayPerSecond, config.timelock, config.initialized);
    }

    function highWatermarks(address pool, int16 bin) external view returns (uint104, uint104, uint40) {
        Watermarks memory marks = _watermarks[pool][bin];
        return (marks.token0, marks.token1, marks.updatedAt);
    }

    function _refuse(int256 bin, bool isToken0Metric, uint256 metric, uint256 threshold) internal pure override {
        revert OracleStopLossTriggered(int16(bin), isToken0Metric, metric, threshold);
    }

    function _emitUpdate(int256 bin, Watermarks memory next) internal override {
        emit OracleStopLossHighWatermarkUpdated(msg.sender, int16(bin), next.token0, next.token1);
    }
}
