// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {SwapContext, SwapOutcome} from "../interfaces/PoolTypes.sol";
import {IPool} from "../interfaces/IPool.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {StopLossSettings} from "./StopLossSettings.sol";

/// Refuses swaps that leave a bin worth too little per share, in the token that the trader brings. Every bin keeps the
/// highest value per share (E18) seen in token0 and in token1; both fall linearly with time. Generations differ in the
/// widths of what they show.
abstract contract StopLossBase is StopLossSettings {
    struct Watermarks {
        uint104 token0;
        uint104 token1;
        uint40 updatedAt;
    }

    struct Marks {
        uint256 in0X64;
        uint256 in1X64;
    }

    uint256 internal constant E18 = 1e18;
    uint256 private constant BINS_SLOT = 4;
    uint256 private constant SHARES_SLOT = 5;

    mapping(address => mapping(int256 => Watermarks)) internal _watermarks;

    function afterSwap(SwapContext calldata context, SwapOutcome calldata outcome, bytes calldata) external override {
        Config memory config = _configs[msg.sender];
        if (config.drawdownE6 == 0) return;
        Marks memory marks = _marks(context.bidPriceX64, context.askPriceX64);
        (int256 low, int256 high) = context.startBin < outcome.endBin
            ? (context.startBin, outcome.endBin)
            : (outcome.endBin, context.startBin);
        for (int256 bin = low; bin <= high; bin++) {
            _checkBin(config, bin, marks, context.zeroForOne);
        }
    }

    /// Prices at which token0 is valued, for values in token0 and in token1.
    function _marks(uint128 bidX64, uint128 askX64) internal view virtual returns (Marks memory);

    /// Value of a share in token0 and in token1, scaled units E18.
    function _metrics(uint256 balance0, uint256 balance1, uint256 shares, Marks memory marks)
        internal
        view
        virtual
        returns (uint256, uint256);

    function _refuse(int256 bin, bool isToken0Metric, uint256 metric, uint256 threshold) internal pure virtual;

    function _emitUpdate(int256 bin, Watermarks memory next) internal virtual;

    function _checkBin(Config memory config, int256 bin, Marks memory prices, bool zeroForOne) private {
        (uint256 metric0, uint256 metric1, bool funded) = _valuePerShare(bin, prices);
        if (!funded) return;
        Watermarks memory marks = _watermarks[msg.sender][bin];
        uint256 high0 = _decayed(marks.token0, marks.updatedAt, config.decayPerSecond);
        uint256 high1 = _decayed(marks.token1, marks.updatedAt, config.decayPerSecond);
        (uint256 metric, uint256 high) = zeroForOne ? (metric0, high0) : (metric1, high1);
        uint256 threshold = FullMath.mulDivFloor(high, 1e6 - config.drawdownE6, 1e6);
        if (metric < threshold) _refuse(bin, zeroForOne, metric, threshold);
        _store(bin, metric0 > high0 ? metric0 : high0, metric1 > high1 ? metric1 : high1, marks);
    }

    function _store(int256 bin, uint256 high0, uint256 high1, Watermarks memory marks) private {
        Watermarks memory next =
            Watermarks(FullMath.toUint104(high0), FullMath.toUint104(high1), uint40(block.timestamp));
        _watermarks[msg.sender][bin] = next;
        if (next.token0 != marks.token0 || next.token1 != marks.token1) _emitUpdate(bin, next);
    }

    /// What the calling pool's bin is worth per share; false when it has no shares.
    function _valuePerShare(int256 bin, Marks memory marks) private view returns (uint256, uint256, bool) {
        bytes32[] memory slots = new bytes32[](2);
        slots[0] = keccak256(abi.encode(bin, BINS_SLOT));
        slots[1] = keccak256(abi.encode(bin, SHARES_SLOT));
        bytes32[] memory words = IPool(msg.sender).extsload(slots);
        uint256 shares = uint256(words[1]);
        if (shares == 0) return (0, 0, false);
        uint256 balance0 = uint104(uint256(words[0]));
        uint256 balance1 = uint104(uint256(words[0]) >> 104);
        (uint256 metric0, uint256 metric1) = _metrics(balance0, balance1, shares, marks);
        return (metric0, metric1, true);
    }

    function _decayed(uint256 mark, uint256 updatedAt, uint256 decayPerSecond) private view returns (uint256) {
        uint256 lost = decayPerSecond * (block.timestamp - updatedAt);
        return lost >= _decayScale ? 0 : FullMath.mulDivFloor(mark, _decayScale - lost, _decayScale);
    }
}
