// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinState, SwapContext, SwapOutcome} from "../../interfaces/PoolTypes.sol";
import {BinCurve, BinFill} from "../../libraries/BinMath.sol";
import {FullMath} from "../../libraries/FullMath.sol";
import {PoolWalk} from "../../pool/PoolWalk.sol";
import {FeeRule, PackedVariant, Quote} from "../PackedTypes.sol";
import {FeeCurve, PackedCurve} from "../libraries/PackedCurve.sol";
import {PackedWords} from "../libraries/PackedWords.sol";
import {PackedPrices} from "./PackedPrices.sol";

/// Swaps of the packed generation. Fees in events are scaled.
abstract contract PackedSwaps is PackedPrices, PoolWalk {
    event BinSwapped(int256 binIdx, uint256 binDeltas, uint256 fees);
    event Swap(
        address indexed sender,
        address indexed recipient,
        uint256 details,
        uint256 amountDeltas,
        uint256 platformFees
    );

    bool private immutable FEES_BY_TOKEN;
    bool private immutable PLATFORM_FEES_BY_TOKEN;
    bool private immutable FLAGS_FIRST;
    bool private immutable RAW_DELTAS;
    bool private immutable ZERO_REVERTS;

    error FinalAmountIsZero();
    error InsufficientLiquidity(uint256 output, uint256 missing);

    constructor(PackedVariant memory variant) PackedPrices(variant) {
        FEES_BY_TOKEN = variant.feesByToken;
        PLATFORM_FEES_BY_TOKEN = variant.platformFeesByToken;
        FLAGS_FIRST = variant.flagsFirst;
        RAW_DELTAS = variant.rawDeltas;
        ZERO_REVERTS = variant.zeroReverts;
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
        Quote memory quote = _readProvider();
        SwapContext memory context = _context(msg.sender, recipient, zeroForOne, amountSpecified, quote);
        _runBeforeSwap(context, extensionData);
        SwapOutcome memory outcome = _execute(context, quote, priceLimitX64);
        _settle(context, outcome, callbackData);
        _runAfterSwap(context, outcome, extensionData);
        return (int128(outcome.amount0Delta), int128(outcome.amount1Delta));
    }

    function _context(
        address sender,
        address recipient,
        bool zeroForOne,
        int128 amountSpecified,
        Quote memory quote
    ) internal view returns (SwapContext memory) {
        return SwapContext(
            sender,
            recipient,
            zeroForOne,
            amountSpecified,
            quote.bidX64,
            quote.askX64,
            quote.referenceX64,
            curBinIdx
        );
    }

    /// Runs the swap with the prices that the caller brings, and reverts with its amounts. It ignores the pause.
    function _simulate(
        SwapContext memory context,
        uint128 priceLimitX64,
        Quote memory quote,
        bytes calldata extensionData
    ) internal {
        // The lock goes with everything else when this reverts.
        _lock();
        _checkQuote(quote);
        _runBeforeSwap(context, extensionData);
        SwapOutcome memory outcome = _execute(context, quote, priceLimitX64);
        _runAfterSwap(context, outcome, extensionData);
        revert SimulateSwap(outcome.amount0Delta, outcome.amount1Delta);
    }

    /// Walks the bins, stores the new state and reports the amounts.
    function _execute(SwapContext memory context, Quote memory quote, uint128 priceLimitX64)
        private
        returns (SwapOutcome memory outcome)
    {
        Walk memory walk;
        walk.zeroForOne = context.zeroForOne;
        walk.limitX64 = priceLimitX64;
        walk.mid = quote.referenceX64;
        walk.baseFee = _baseFee(quote, context.zeroForOne);
        (walk.spreadFeeE6, walk.notionalFeeE8) = (spreadFeeE6, notionalFeeE8);
        _walkBins(walk, _fromBins(context.amountSpecified));
        if (RULE == FeeRule.OffOutput && ZERO_REVERTS && !walk.exactInput && walk.remaining > 0) {
            revert InsufficientLiquidity(walk.output, walk.remaining);
        }
        curBinIdx = int16(walk.bin);
        curPosInBin = uint104(walk.position);
        curBinDistE6 = int24(walk.distance);
        outcome = _account(walk, _isNotionalAtEnd() ? notionalFeeE8 : 0);
        if (ZERO_REVERTS && (outcome.amount0Delta == 0 || outcome.amount1Delta == 0)) revert FinalAmountIsZero();
        emit Swap(
            context.sender,
            context.recipient,
            FLAGS_FIRST
                ? PackedWords.flagsFirst(walk.zeroForOne, walk.exactInput, walk.bin, walk.position)
                : PackedWords.positionFirst(walk.zeroForOne, walk.exactInput, walk.bin, walk.position),
            PackedWords.signedPair(outcome.amount0Delta, outcome.amount1Delta),
            _platformFees(walk)
        );
    }

    /// What the bins give for an exact output.
    function _fromBins(int256 amount) private view returns (int256) {
        if (RULE != FeeRule.OffOutput || amount > 0) return amount;
        return -int256(FullMath.mulDivCeil(uint256(-amount), E8, E8 - notionalFeeE8));
    }

    function _account(Walk memory walk, uint256 notionalAtEndE8)
        internal
        override
        returns (SwapOutcome memory outcome)
    {
        if (RULE != FeeRule.OffOutput || walk.exactInput) return super._account(walk, notionalAtEndE8);
        uint256 fee = FullMath.mulDivCeil(walk.output, notionalAtEndE8, E8);
        walk.output -= fee;
        outcome = super._account(walk, 0);
        walk.notionalAtEnd = fee;
        if (walk.zeroForOne) notionalFees.token1 += FullMath.toUint128(fee);
        else notionalFees.token0 += FullMath.toUint128(fee);
    }

    /// The newer rules take the notional fee with the others, bin by bin.
    function _fill(Walk memory walk, BinState memory bin, BinCurve memory bare, uint256 most)
        internal
        view
        override
        returns (BinFill memory fill, uint256 notional)
    {
        FeeCurve memory curve = _feeCurve(bin, bare, walk.mid, walk.baseFee, walk.notionalFeeE8);
        fill = _fillCurve(curve, walk.exactInput, walk.remaining, most);
        if (_isNotionalAtEnd()) return (fill, 0);
        notional = FullMath.mulDivFloor(fill.net, walk.notionalFeeE8, E8);
        if (notional > fill.fee) notional = fill.fee;
    }

    /// The arithmetic of it.
    function _fillCurve(FeeCurve memory curve, bool exactInput, uint256 remaining, uint256 most)
        internal
        view
        virtual
        returns (BinFill memory)
    {
        return exactInput
            ? PackedCurve.fillExactInput(curve, remaining, most)
            : PackedCurve.fillExactOutput(curve, remaining < most ? remaining : most);
    }

    function _binSwapped(int256 bin, int256 delta0, int256 delta1, uint256 lpFee, uint256 protocolFee)
        internal
        override
    {
        uint256 fees = PackedWords.pair(lpFee, protocolFee);
        if (FEES_BY_TOKEN) fees = delta0 > 0 ? PackedWords.pair(lpFee, 0) : PackedWords.pair(0, lpFee);
        if (RAW_DELTAS) (delta0, delta1) = (delta0 / int256(MULTIPLIER0), delta1 / int256(MULTIPLIER1));
        emit BinSwapped(bin, PackedWords.signedPair(delta0, delta1), fees);
    }

    function _platformFees(Walk memory walk) private view returns (uint256) {
        uint256 inInput = walk.protocolFee + walk.notionalInBins;
        if (!PLATFORM_FEES_BY_TOKEN) {
            return PackedWords.pair(walk.protocolFee, walk.notionalInBins + walk.notionalAtEnd);
        }
        uint256 inOutput = walk.exactInput ? walk.notionalAtEnd : 0;
        if (!walk.exactInput) inInput += walk.notionalAtEnd;
        return walk.zeroForOne ? PackedWords.pair(inInput, inOutput) : PackedWords.pair(inOutput, inInput);
    }
}
