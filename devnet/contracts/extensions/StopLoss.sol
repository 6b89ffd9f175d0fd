// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {SwapContext, SwapOutcome} from "../interfaces/PoolTypes.sol";
import {IPool} from "../interfaces/IPool.sol";
import {BinMath} from "../libraries/BinMath.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {ExtensionBase} from "./ExtensionBase.sol";
import {StopLossSettings} from "./StopLossSettings.sol";

/// Refuses swaps that leave a bin worth too little per share, in the token that the trader brings. Every bin keeps the
/// highest value per share (E18) seen in token0 and in token1, at the provider's mid price; both fall linearly with time.
contract StopLoss is StopLossSettings {
    struct Watermarks {
        uint104 token0;
        uint104 token1;
        uint48 updatedAt;
    }

    struct Marks {
        uint256 in0X64;
        uint256 in1X64;
    }

    event OracleStopLossHighWatermarkUpdated(
        address indexed pool, int8 binIdx, uint104 newHwmToken0, uint104 newHwmToken1
    );

    error OracleStopLossTriggered(int8 binIdx, bool isToken0Metric, uint256 currentMetric, uint256 threshold);

    uint256 internal constant E18 = 1e18;
    uint256 private constant BINS_SLOT = 4;
    uint256 private constant SHARES_SLOT = 5;

    mapping(address => mapping(int8 => Watermarks)) public highWatermarks;

    constructor(address factory_) ExtensionBase(factory_) {}

    function afterSwap(SwapContext calldata context, SwapOutcome calldata outcome, bytes calldata) external override {
        Config memory config = oracleStopLossConfig[msg.sender];
        if (config.drawdownE6 == 0) return;
        Marks memory marks = _marks(context.bidPriceX64, context.askPriceX64);
        (int16 low, int16 high) = context.startBin < outcome.endBin
            ? (context.startBin, outcome.endBin)
            : (outcome.endBin, context.startBin);
        for (int256 bin = low; bin <= high; bin++) {
            _checkBin(config, int8(bin), marks, context.zeroForOne);
        }
    }

    /// Prices at which token0 is valued, for values in token0 and in token1.
    function _marks(uint128 bidX64, uint128 askX64) internal view virtual returns (Marks memory) {
        uint256 mid = BinMath.midPrice(bidX64, askX64);
        return Marks(mid, mid);
    }

    /// Value of a share in token0 and in token1, scaled units E18.
    function _metrics(uint256 balance0, uint256 balance1, uint256 shares, Marks memory marks)
        internal
        view
        virtual
        returns (uint256, uint256)
    {
        uint256 value0 = balance0 + FullMath.mulDivFloor(balance1, BinMath.Q64, marks.in0X64);
        uint256 value1 = balance1 + FullMath.mulDivFloor(balance0, marks.in1X64, BinMath.Q64);
        return (FullMath.mulDivFloor(value0, E18, shares), FullMath.mulDivFloor(value1, E18, shares));
    }

    function _checkBin(Config memory config, int8 bin, Marks memory prices, bool zeroForOne) private {
        (uint256 metric0, uint256 metric1, bool funded) = _valuePerShare(bin, prices);
        if (!funded) return;
        Watermarks memory marks = highWatermarks[msg.sender][bin];
        uint256 high0 = _decayed(marks.token0, marks.updatedAt, config.decayPerSecondE8);
        uint256 high1 = _decayed(marks.token1, marks.updatedAt, config.decayPerSecondE8);
        (uint256 metric, uint256 high) = zeroForOne ? (metric0, high0) : (metric1, high1);
        uint256 threshold = FullMath.mulDivFloor(high, 1e6 - config.drawdownE6, 1e6);
        if (metric < threshold) revert OracleStopLossTriggered(bin, zeroForOne, metric, threshold);
        _store(bin, metric0 > high0 ? metric0 : high0, metric1 > high1 ? metric1 : high1, marks);
    }

    function _store(int8 bin, uint256 high0, uint256 high1, Watermarks memory marks) private {
        Watermarks memory next =
            Watermarks(FullMath.toUint104(high0), FullMath.toUint104(high1), uint48(block.timestamp));
        highWatermarks[msg.sender][bin] = next;
        if (next.token0 == marks.token0 && next.token1 == marks.token1) return;
        emit OracleStopLossHighWatermarkUpdated(msg.sender, bin, next.token0, next.token1);
    }

    /// What the calling pool's bin is worth per share; false when nobody has a share of it.
    function _valuePerShare(int8 bin, Marks memory marks) private view returns (uint256, uint256, bool) {
        bytes32[] memory slots = new bytes32[](2);
        slots[0] = keccak256(abi.encode(int256(bin), BINS_SLOT));
        slots[1] = keccak256(abi.encode(int256(bin), SHARES_SLOT));
        bytes32[] memory words = IPool(msg.sender).extsload(slots);
        uint256 shares = uint256(words[1]);
        if (shares == 0) return (0, 0, false);
        uint256 balance0 = uint104(uint256(words[0]));
        uint256 balance1 = uint104(uint256(words[0]) >> 104);
        (uint256 metric0, uint256 metric1) = _metrics(balance0, balance1, shares, marks);
        return (metric0, metric1, true);
    }

    function _decayed(uint256 mark, uint256 updatedAt, uint256 decayPerSecondE8) private view returns (uint256) {
        uint256 lost = decayPerSecondE8 * (block.timestamp - updatedAt);
        return lost >= 1e8 ? 0 : FullMath.mulDivFloor(mark, 1e8 - lost, 1e8);
    }
}
