// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinBalanceDelta, BinState, SwapContext, SwapOutcome} from "../interfaces/PoolTypes.sol";
import {IERC20} from "../interfaces/IERC20.sol";
import {IMetricOmmSwapCallback} from "../interfaces/IPool.sol";
import {BinCurve, BinFill, BinMath} from "../libraries/BinMath.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {SafeTransfer} from "../libraries/SafeTransfer.sol";
import {PoolPrices} from "./PoolPrices.sol";

/// The walk of a swap over the bins. Scaled units.
abstract contract PoolSwaps is PoolPrices {
    event BinSwapped(int256 binIdx, BinBalanceDelta delta, uint256 lpFeeAmount);
    event Swap(
        address indexed sender,
        address indexed recipient,
        bool exactInput,
        int256 amount0Delta,
        int256 amount1Delta,
        int8 newTick,
        uint104 newPositionInBin,
        uint256 protocolFeeAmount
    );

    error PoolPaused();
    error InvalidAmount();
    error AmountScaledExceedsMax();
    error SimulateSwap(int256 amount0Delta, int256 amount1Delta);
    error InsufficientInput();

    struct Walk {
        bool zeroForOne;
        bool exactInput;
        uint256 limitX64;
        uint256 mid;
        uint256 baseFee;
        int256 bin;
        int256 distance;
        uint256 position;
        uint256 remaining;
        uint256 output;
        /// Inputs before and with bin fees.
        uint256 net;
        uint256 input;
        uint256 protocolFee;
    }

    function swap(
        address recipient,
        bool zeroForOne,
        int128 amountSpecified,
        uint128 priceLimitX64,
        bytes calldata callbackData,
        bytes calldata extensionData
    ) external nonReentrant returns (int128, int128) {
        if (pauseLevel != 0) revert PoolPaused();
        (uint128 bid, uint128 ask) = _readProvider();
        SwapContext memory context =
            SwapContext(msg.sender, recipient, zeroForOne, amountSpecified, bid, ask, curBinIdx);
        _runBeforeSwap(context, extensionData);
        SwapOutcome memory outcome = _execute(context, priceLimitX64);
        _settle(context, outcome, callbackData);
        _runAfterSwap(context, outcome, extensionData);
        return (int128(outcome.amount0Delta), int128(outcome.amount1Delta));
    }

    /// Ignores the pause and the provider: the caller brings the prices.
    function simulateSwapAndRevert(
        address recipient,
        bool zeroForOne,
        int128 amountSpecified,
        uint128 priceLimitX64,
        uint128 bidPriceX64,
        uint128 askPriceX64,
        bytes calldata extensionData
    ) external returns (int128, int128) {
        // The lock goes with everything else when this reverts.
        _lock();
        _checkQuote(bidPriceX64, askPriceX64);
        SwapContext memory context =
            SwapContext(msg.sender, recipient, zeroForOne, amountSpecified, bidPriceX64, askPriceX64, curBinIdx);
        _runBeforeSwap(context, extensionData);
        SwapOutcome memory outcome = _execute(context, priceLimitX64);
        _runAfterSwap(context, outcome, extensionData);
        revert SimulateSwap(outcome.amount0Delta, outcome.amount1Delta);
    }

    /// Walks the bins, stores the new state and tells the amounts.
    function _execute(SwapContext memory context, uint128 priceLimitX64) private returns (SwapOutcome memory outcome) {
        Walk memory walk = _startWalk(context, priceLimitX64);
        while (walk.remaining > 0) {
            if (!_walkBin(walk)) break;
        }
        curBinIdx = int8(walk.bin);
        curPosInBin = uint104(walk.position);
        curBinDistFromProvidedPriceE6 = int24(walk.distance);
        outcome = _account(walk);
        emit Swap(
            context.sender,
            context.recipient,
            walk.exactInput,
            outcome.amount0Delta,
            outcome.amount1Delta,
            int8(walk.bin),
            uint104(walk.position),
            walk.protocolFee
        );
    }

    function _startWalk(SwapContext memory context, uint128 limit) private view returns (Walk memory walk) {
        if (context.amountSpecified == 0) revert InvalidAmount();
        walk.zeroForOne = context.zeroForOne;
        walk.exactInput = context.amountSpecified > 0;
        walk.limitX64 = limit;
        walk.mid = BinMath.midPrice(context.bidPriceX64, context.askPriceX64);
        walk.baseFee = BinMath.baseFee(context.askPriceX64, walk.mid);
        walk.bin = curBinIdx;
        walk.distance = curBinDistFromProvidedPriceE6;
        walk.position = curPosInBin;
        int256 amount = context.amountSpecified;
        bool inToken0 = walk.zeroForOne == walk.exactInput;
        walk.remaining = uint256(amount < 0 ? -amount : amount) * (inToken0 ? MULTIPLIER0 : MULTIPLIER1);
        if (walk.remaining > uint256(int256(type(int128).max))) revert AmountScaledExceedsMax();
    }

    /// Trades in the current bin and moves on when it is empty. False when the walk ends here.
    function _walkBin(Walk memory walk) private returns (bool) {
        BinState memory bin = bins[walk.bin];
        BinCurve memory curve = _curve(walk, bin);
        (uint256 most, bool limited) = BinMath.outputWithinLimit(curve, walk.limitX64);
        if (most > 0) _take(walk, bin, curve, most);
        else if (limited) return false;
        // What is left after this bin was emptied goes on in the next one; a price limit ends the walk.
        bool emptied = (walk.zeroForOne ? bin.token1BalanceScaled : bin.token0BalanceScaled) == 0;
        return emptied && (walk.zeroForOne ? _moveDown(walk) : _moveUp(walk, bin));
    }

    function _curve(Walk memory walk, BinState memory bin) private pure returns (BinCurve memory curve) {
        curve.zeroForOne = walk.zeroForOne;
        curve.lowerX64 = BinMath.edgePrice(walk.mid, walk.distance);
        curve.upperX64 = BinMath.edgePrice(walk.mid, walk.distance + int256(uint256(bin.lengthE6)));
        curve.position = walk.position;
        curve.available = walk.zeroForOne ? bin.token1BalanceScaled : bin.token0BalanceScaled;
        curve.feeX64 = walk.baseFee + _feeX64(walk.zeroForOne ? bin.addFeeSellE6 : bin.addFeeBuyE6);
    }

    /// Trades at most `most` of the bin's output token and books it on bin and walk.
    function _take(Walk memory walk, BinState memory bin, BinCurve memory curve, uint256 most) private {
        BinFill memory fill = walk.exactInput
            ? BinMath.fillExactInput(curve, walk.remaining, most)
            : BinMath.fillExactOutput(curve, walk.remaining < most ? walk.remaining : most);
        uint256 protocolFee = FullMath.mulDivFloor(fill.fee, spreadFeeE6, 1e6);
        uint256 added = fill.net + fill.fee - protocolFee;
        int256 delta0 = walk.zeroForOne ? int256(added) : -int256(fill.output);
        int256 delta1 = walk.zeroForOne ? -int256(fill.output) : int256(added);
        bin.token0BalanceScaled = FullMath.toUint104(uint256(int256(uint256(bin.token0BalanceScaled)) + delta0));
        bin.token1BalanceScaled = FullMath.toUint104(uint256(int256(uint256(bin.token1BalanceScaled)) + delta1));
        bins[walk.bin] = bin;
        binTotals.token0 = FullMath.toUint128(uint256(int256(uint256(binTotals.token0)) + delta0));
        binTotals.token1 = FullMath.toUint128(uint256(int256(uint256(binTotals.token1)) + delta1));
        walk.position = fill.position;
        walk.remaining -= walk.exactInput ? fill.net + fill.fee : fill.output;
        walk.output += fill.output;
        walk.net += fill.net;
        walk.input += fill.net + fill.fee;
        walk.protocolFee += protocolFee;
        emit BinSwapped(walk.bin, BinBalanceDelta(delta0, delta1), fill.fee - protocolFee);
    }

    /// A buy that reaches a bin's upper edge continues at the start of the next bin, even when nothing remains.
    function _moveUp(Walk memory walk, BinState memory bin) private view returns (bool) {
        walk.position = BinMath.M;
        if (walk.bin == HIGHEST_BIN) return false;
        walk.bin += 1;
        walk.distance += int256(uint256(bin.lengthE6));
        walk.position = 0;
        return true;
    }

    function _moveDown(Walk memory walk) private view returns (bool) {
        walk.position = 0;
        if (walk.remaining == 0 || walk.bin == LOWEST_BIN) return false;
        walk.bin -= 1;
        walk.distance -= int256(uint256(bins[walk.bin].lengthE6));
        walk.position = BinMath.M;
        return true;
    }

    /// Takes the notional fee and turns scaled amounts into raw ones, against the trader.
    function _account(Walk memory walk) private returns (SwapOutcome memory outcome) {
        uint256 fee = FullMath.mulDivFloor(walk.exactInput ? walk.output : walk.net, notionalFeeE8, 1e8);
        if (walk.zeroForOne == walk.exactInput) notionalFees.token1 += FullMath.toUint128(fee);
        else notionalFees.token0 += FullMath.toUint128(fee);
        uint256 input = walk.exactInput ? walk.input : walk.input + fee;
        uint256 output = walk.exactInput ? walk.output - fee : walk.output;
        if (input > uint256(int256(type(int128).max))) revert AmountScaledExceedsMax();
        outcome.endBin = int8(walk.bin);
        if (walk.zeroForOne) {
            outcome.amount0Delta = int256(FullMath.divCeil(input, MULTIPLIER0));
            outcome.amount1Delta = -int256(output / MULTIPLIER1);
        } else {
            outcome.amount0Delta = -int256(output / MULTIPLIER0);
            outcome.amount1Delta = int256(FullMath.divCeil(input, MULTIPLIER1));
        }
    }

    /// Pays the recipient, then lets the sender pay.
    function _settle(SwapContext memory context, SwapOutcome memory outcome, bytes calldata callbackData) private {
        bool zeroForOne = context.zeroForOne;
        (address tokenIn, address tokenOut) = zeroForOne ? (TOKEN0, TOKEN1) : (TOKEN1, TOKEN0);
        int256 owed = zeroForOne ? outcome.amount0Delta : outcome.amount1Delta;
        int256 paid = zeroForOne ? outcome.amount1Delta : outcome.amount0Delta;
        SafeTransfer.pay(tokenOut, context.recipient, uint256(-paid));
        uint256 balanceBefore = IERC20(tokenIn).balanceOf(address(this));
        IMetricOmmSwapCallback(context.sender).metricOmmSwapCallback(
            outcome.amount0Delta, outcome.amount1Delta, callbackData
        );
        if (IERC20(tokenIn).balanceOf(address(this)) < balanceBefore + uint256(owed)) revert InsufficientInput();
    }
}
