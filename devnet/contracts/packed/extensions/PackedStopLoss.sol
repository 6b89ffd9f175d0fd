// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {SwapContext, SwapOutcome} from "../../interfaces/PoolTypes.sol";
import {IPool} from "../../interfaces/IPool.sol";
import {ExtensionBase} from "../../extensions/ExtensionBase.sol";
import {BinMath} from "../../libraries/BinMath.sol";
import {FullMath} from "../../libraries/FullMath.sol";
import {PackedStopLossSettings} from "./PackedStopLossSettings.sol";

/// Refuses swaps that leave a bin worth too little per share, in the token that the trader brings. Every bin keeps the
/// highest value per share (E18) seen in token0, at the provider's bid, and in token1, at its ask; both fall linearly
/// with time. A bin counts no fewer shares than the pool's least liquidity.
contract PackedStopLoss is PackedStopLossSettings {
    struct Watermarks {
        uint104 token0;
        uint104 token1;
        uint40 updatedAt;
    }

    event OracleStopLossHighWatermarkUpdated(
        address indexed pool, int16 binIdx, uint104 newHwmToken0, uint104 newHwmToken1
    );

    error OracleStopLossTriggered(int16 binIdx, bool isToken0Metric, uint256 currentMetric, uint256 threshold);

    uint256 private constant E18 = 1e18;
    uint256 private constant BINS_SLOT = 4;
    uint256 private constant SHARES_SLOT = 5;

    mapping(address => mapping(int16 => Watermarks)) public highWatermarks;

    constructor(address factory_) ExtensionBase(factory_) {}

    function afterSwap(SwapContext calldata context, SwapOutcome calldata outcome, bytes calldata) external override {
        Config memory config = oracleStopLossConfig[msg.sender];
        if (config.drawdownE6 == 0) return;
        (int256 low, int256 high) = context.startBin < outcome.endBin
            ? (context.startBin, outcome.endBin)
            : (outcome.endBin, context.startBin);
        uint256 least = IPool(msg.sender).getImmutables().minimalMintableLiquidity;
        for (int256 bin = low; bin <= high; bin++) {
            (uint256 metric0, uint256 metric1) = _valuePerShare(bin, least, context.bidPriceX64, context.askPriceX64);
            if (metric0 > 0 || metric1 > 0) _checkBin(config, int16(bin), metric0, metric1, context.zeroForOne);
        }
    }

    function _checkBin(Config memory config, int16 bin, uint256 metric0, uint256 metric1, bool zeroForOne) private {
        Watermarks memory marks = highWatermarks[msg.sender][bin];
        uint256 high0 = _decayed(marks.token0, marks.updatedAt, config.decayPerSecondE18);
        uint256 high1 = _decayed(marks.token1, marks.updatedAt, config.decayPerSecondE18);
        (uint256 metric, uint256 high) = zeroForOne ? (metric0, high0) : (metric1, high1);
        uint256 threshold = FullMath.mulDivFloor(high, 1e6 - config.drawdownE6, 1e6);
        if (metric < threshold) revert OracleStopLossTriggered(bin, zeroForOne, metric, threshold);
        Watermarks memory next = Watermarks(
            FullMath.toUint104(metric0 > high0 ? metric0 : high0),
            FullMath.toUint104(metric1 > high1 ? metric1 : high1),
            uint40(block.timestamp)
        );
        highWatermarks[msg.sender][bin] = next;
        if (next.token0 == marks.token0 && next.token1 == marks.token1) return;
        emit OracleStopLossHighWatermarkUpdated(msg.sender, bin, next.token0, next.token1);
    }

    /// What the calling pool's bin is worth per share in token0 and in token1, scaled units E18; zeros without shares.
    function _valuePerShare(int256 bin, uint256 leastShares, uint256 bidX64, uint256 askX64)
        private
        view
        returns (uint256 in0, uint256 in1)
    {
        bytes32[] memory slots = new bytes32[](2);
        slots[0] = keccak256(abi.encode(bin, BINS_SLOT));
        slots[1] = keccak256(abi.encode(bin, SHARES_SLOT));
        bytes32[] memory words = IPool(msg.sender).extsload(slots);
        uint256 shares = uint256(words[1]);
        if (shares == 0) return (0, 0);
        if (shares < leastShares) shares = leastShares;
        uint256 perShare0 = FullMath.mulDivFloor(uint104(uint256(words[0])), E18, shares);
        uint256 perShare1 = FullMath.mulDivFloor(uint104(uint256(words[0]) >> 104), E18, shares);
        in0 = perShare0 + FullMath.mulDivFloor(perShare1, BinMath.Q64, bidX64);
        in1 = FullMath.mulDivFloor(perShare0, askX64, BinMath.Q64) + perShare1;
    }

    function _decayed(uint256 mark, uint256 updatedAt, uint256 decayPerSecondE18) private view returns (uint256) {
        uint256 lost = decayPerSecondE18 * (block.timestamp - updatedAt);
        return lost >= E18 ? 0 : FullMath.mulDivFloor(mark, E18 - lost, E18);
    }
}
