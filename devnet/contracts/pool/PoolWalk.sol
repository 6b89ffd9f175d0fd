// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinState, SwapContext, SwapOutcome} from "../interfaces/PoolTypes.sol";
import {IERC20} from "../interfaces/IERC20.sol";
import {IMetricOmmSwapCallback} from "../interfaces/IPool.sol";
import {BinCurve, BinFill, BinMath} from "../libraries/BinMath.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {SafeTransfer} from "../libraries/SafeTransfer.sol";
import {PoolProvider} from "./PoolProvider.sol";

/// The walk of a swap over the bins, of either generation. Scaled units.
abstract contract PoolWalk is PoolProvider {
    error PoolPaused();
    error InvalidAmount();
    error AmountScaledExceedsMax();
    error SimulateSwap(int256 amount0Delta, int256 amount1Delta);
    error InsufficientInput();

    struct Walk {
        bool zeroForOne;
        bool exactInput;
        uint256 limitX64;
        /// The ladder's anchor.
        uint256 mid;
        uint256 baseFee;
        uint256 spreadFeeE6;
        uint256 notionalFeeE8;
        int256 bin;
        int256 distance;
        uint256 position;
        uint256 remaining;
        uint256 output;
        /// Inputs before and with bin fees.
        uint256 net;
        uint256 input;
        uint256 protocolFee;
        /// Notional fees that bins took with their own, in the input token.
        uint256 notionalInBins;
        /// The notional fee on the whole, in the token that was not specified.
        uint256 notionalAtEnd;
    }

    /// Walks the bins and books them. The caller sets direction, limit, anchor and fees, and stores the cursor.
    function _walkBins(Walk memory walk, int256 amount) internal {
        if (amount == 0) revert InvalidAmount();
        walk.exactInput = amount > 0;
        (walk.bin, walk.position, walk.distance) = _cursor();
        bool inToken0 = walk.zeroForOne == walk.exactInput;
        walk.remaining = uint256(amount < 0 ? -amount : amount) * (inToken0 ? MULTIPLIER0 : MULTIPLIER1);
        if (walk.remaining > uint256(int256(type(int128).max))) revert AmountScaledExceedsMax();
        while (walk.remaining > 0) {
            if (!_walkBin(walk)) break;
        }
    }

    /// Trades at most `most` of a bin's output token; `notional` is the part of its fee that is the notional fee.
    function _fill(Walk memory walk, BinState memory bin, BinCurve memory curve, uint256 most)
        internal
        view
        virtual
        returns (BinFill memory fill, uint256 notional);

    /// Announces what a swap did in a bin.
    function _binSwapped(int256 bin, int256 delta0, int256 delta1, uint256 lpFee, uint256 protocolFee)
        internal
        virtual;

    /// Accrues the notional fees and turns scaled amounts into raw ones, against the trader.
    function _account(Walk memory walk, uint256 notionalAtEndE8)
        internal
        virtual
        returns (SwapOutcome memory outcome)
    {
        uint256 fee = FullMath.mulDivFloor(walk.exactInput ? walk.output : walk.net, notionalAtEndE8, 1e8);
        walk.notionalAtEnd = fee;
        if (walk.zeroForOne == walk.exactInput) notionalFees.token1 += FullMath.toUint128(fee);
        else notionalFees.token0 += FullMath.toUint128(fee);
        if (walk.zeroForOne) notionalFees.token0 += FullMath.toUint128(walk.notionalInBins);
        else notionalFees.token1 += FullMath.toUint128(walk.notionalInBins);
        uint256 input = walk.exactInput ? walk.input : walk.input + fee;
        uint256 output = walk.exactInput ? walk.output - fee : walk.output;
        if (input > uint256(int256(type(int128).max))) revert AmountScaledExceedsMax();
        outcome.endBin = int16(walk.bin);
        if (walk.zeroForOne) {
            outcome.amount0Delta = int256(FullMath.divCeil(input, MULTIPLIER0));
            outcome.amount1Delta = -int256(output / MULTIPLIER1);
        } else {
            outcome.amount0Delta = -int256(output / MULTIPLIER0);
            outcome.amount1Delta = int256(FullMath.divCeil(input, MULTIPLIER1));
        }
    }

    /// Pays the recipient, then lets the sender pay.
    function _settle(SwapContext memory context, SwapOutcome memory outcome, bytes calldata callbackData) internal {
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

    /// Trades in the current bin and moves on when it is empty. False when the walk ends here.
    function _walkBin(Walk memory walk) private returns (bool) {
        BinState memory bin = bins[walk.bin];
        BinCurve memory curve = _curve(walk, bin);
        (uint256 most, bool limited) = BinMath.outputWithinLimit(curve, walk.limitX64);
        if (most > 0) _take(walk, bin, curve, most);
        else if (limited) return false;
        // An emptied bin moves the cursor into the next one, even when nothing remains; a price limit ends the walk.
        bool emptied = (walk.zeroForOne ? bin.token1BalanceScaled : bin.token0BalanceScaled) == 0;
        return emptied && (walk.zeroForOne ? _moveDown(walk) : _moveUp(walk, bin));
    }

    function _curve(Walk memory walk, BinState memory bin) private pure returns (BinCurve memory curve) {
        curve.zeroForOne = walk.zeroForOne;
        curve.lowerX64 = BinMath.edgePrice(walk.mid, walk.distance);
        curve.upperX64 = BinMath.edgePrice(walk.mid, walk.distance + int256(uint256(bin.lengthE6)));
        curve.position = walk.position;
        curve.available = walk.zeroForOne ? bin.token1BalanceScaled : bin.token0BalanceScaled;
    }

    /// Trades at most `most` of the bin's output token and books it on bin and walk.
    function _take(Walk memory walk, BinState memory bin, BinCurve memory curve, uint256 most) private {
        (BinFill memory fill, uint256 notional) = _fill(walk, bin, curve, most);
        uint256 spread = fill.fee - notional;
        uint256 protocolFee = FullMath.mulDivFloor(spread, walk.spreadFeeE6, 1e6);
        uint256 added = fill.net + spread - protocolFee;
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
        walk.notionalInBins += notional;
        _binSwapped(walk.bin, delta0, delta1, spread - protocolFee, protocolFee);
    }

    /// The highest bin keeps a buy that empties it, at its upper edge.
    function _moveUp(Walk memory walk, BinState memory bin) private view returns (bool) {
        walk.position = BinMath.M;
        if (walk.bin == HIGHEST_BIN) return false;
        walk.bin += 1;
        walk.distance += int256(uint256(bin.lengthE6));
        walk.position = 0;
        return true;
    }

    /// The lowest bin keeps a sale that empties it, at its lower edge.
    function _moveDown(Walk memory walk) private view returns (bool) {
        walk.position = 0;
        if (walk.bin == LOWEST_BIN) return false;
        walk.bin -= 1;
        walk.distance -= int256(uint256(bins[walk.bin].lengthE6));
        walk.position = BinMath.M;
        return true;
    }
}
