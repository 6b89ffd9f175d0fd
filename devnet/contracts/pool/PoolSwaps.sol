// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinBalanceDelta, BinState, SwapContext, SwapOutcome} from "../interfaces/PoolTypes.sol";
import {BinCurve, BinFill, BinMath} from "../libraries/BinMath.sol";
import {PoolPrices} from "./PoolPrices.sol";
import {PoolWalk} from "./PoolWalk.sol";

/// Swaps of the flat generation.
abstract contract PoolSwaps is PoolPrices, PoolWalk {
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
            SwapContext(msg.sender, recipient, zeroForOne, amountSpecified, bid, ask, 0, curBinIdx);
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
            SwapContext(msg.sender, recipient, zeroForOne, amountSpecified, bidPriceX64, askPriceX64, 0, curBinIdx);
        _runBeforeSwap(context, extensionData);
        SwapOutcome memory outcome = _execute(context, priceLimitX64);
        _runAfterSwap(context, outcome, extensionData);
        revert SimulateSwap(outcome.amount0Delta, outcome.amount1Delta);
    }

    /// Walks the bins, stores the new state and reports the amounts.
    function _execute(SwapContext memory context, uint128 priceLimitX64) private returns (SwapOutcome memory outcome) {
        Walk memory walk;
        walk.zeroForOne = context.zeroForOne;
        walk.limitX64 = priceLimitX64;
        walk.mid = BinMath.midPrice(context.bidPriceX64, context.askPriceX64);
        walk.baseFee = BinMath.baseFee(context.askPriceX64, walk.mid);
        walk.spreadFeeE6 = spreadFeeE6;
        _walkBins(walk, context.amountSpecified);
        curBinIdx = int8(walk.bin);
        curPosInBin = uint104(walk.position);
        curBinDistFromProvidedPriceE6 = int24(walk.distance);
        outcome = _account(walk, notionalFeeE8);
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

    function _fill(Walk memory walk, BinState memory bin, BinCurve memory curve, uint256 most)
        internal
        pure
        override
        returns (BinFill memory fill, uint256 notional)
    {
        curve.feeX64 = walk.baseFee + _feeX64(walk.zeroForOne ? bin.addFeeSellE6 : bin.addFeeBuyE6);
        fill = walk.exactInput
            ? BinMath.fillExactInput(curve, walk.remaining, most)
            : BinMath.fillExactOutput(curve, walk.remaining < most ? walk.remaining : most);
        notional = 0;
    }

    function _binSwapped(int256 bin, int256 delta0, int256 delta1, uint256 lpFee, uint256) internal override {
        emit BinSwapped(bin, BinBalanceDelta(delta0, delta1), lpFee);
    }
}
