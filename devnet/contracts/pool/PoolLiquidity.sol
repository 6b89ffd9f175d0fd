// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinBalanceDelta, BinState, LiquidityDelta} from "../interfaces/PoolTypes.sol";
import {IERC20} from "../interfaces/IERC20.sol";
import {IMetricOmmModifyLiquidityCallback} from "../interfaces/IPool.sol";
import {IPoolExtension} from "../interfaces/IPoolExtension.sol";
import {BinMath} from "../libraries/BinMath.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {SafeTransfer} from "../libraries/SafeTransfer.sol";
import {PoolExtensions} from "./PoolExtensions.sol";

/// Shares of bins: minted for both tokens, burnt for both tokens.
abstract contract PoolLiquidity is PoolExtensions {
    event LiquidityAdded(
        address indexed provider,
        uint80 indexed salt,
        int256[] binIdxs,
        BinBalanceDelta[] binBalanceDeltas,
        uint256[] shares
    );
    event LiquidityRemoved(
        address indexed provider,
        uint80 indexed salt,
        int256[] binIdxs,
        BinBalanceDelta[] binBalanceDeltas,
        uint256[] shares
    );

    error BinOutOfRange(int256 bin);
    error SharesBelowMinimum(int256 bin);
    error MismatchedLengths();
    error OnlyOwner();
    error InsufficientDeposit();

    uint256 private constant E18 = 1e18;

    function addLiquidity(
        address owner,
        uint80 salt,
        LiquidityDelta calldata deltas,
        bytes calldata callbackData,
        bytes calldata extensionData
    ) external nonReentrant returns (uint256 amount0, uint256 amount1) {
        _runLiquidityHook(
            BEFORE_ADD_ORDER, IPoolExtension.beforeAddLiquidity.selector, owner, salt, deltas, extensionData
        );
        (amount0, amount1) = _mint(owner, salt, deltas);
        _collectDeposit(amount0, amount1, callbackData);
        _runLiquidityHook(
            AFTER_ADD_ORDER, IPoolExtension.afterAddLiquidity.selector, owner, salt, deltas, extensionData
        );
    }

    function removeLiquidity(
        address owner,
        uint80 salt,
        LiquidityDelta calldata deltas,
        bytes calldata extensionData
    ) external nonReentrant returns (uint256 amount0, uint256 amount1) {
        if (msg.sender != owner) revert OnlyOwner();
        _runLiquidityHook(
            BEFORE_REMOVE_ORDER, IPoolExtension.beforeRemoveLiquidity.selector, owner, salt, deltas, extensionData
        );
        (amount0, amount1) = _burn(owner, salt, deltas);
        SafeTransfer.pay(TOKEN0, owner, amount0);
        SafeTransfer.pay(TOKEN1, owner, amount1);
        _runLiquidityHook(
            AFTER_REMOVE_ORDER, IPoolExtension.afterRemoveLiquidity.selector, owner, salt, deltas, extensionData
        );
    }

    /// Raw amounts owed for the new shares, rounded up.
    function _mint(address owner, uint80 salt, LiquidityDelta calldata deltas)
        private
        returns (uint256 amount0, uint256 amount1)
    {
        uint256 count = deltas.binIdxs.length;
        if (count != deltas.shares.length) revert MismatchedLengths();
        BinBalanceDelta[] memory changes = new BinBalanceDelta[](count);
        for (uint256 i = 0; i < count; i++) {
            (int256 index, uint256 shares) = (deltas.binIdxs[i], deltas.shares[i]);
            (uint256 add0, uint256 add1) = _cost(index, shares);
            _book(index, owner, salt, int256(shares), int256(add0), int256(add1));
            changes[i] = BinBalanceDelta(int256(add0), int256(add1));
            amount0 += add0;
            amount1 += add1;
        }
        emit LiquidityAdded(owner, salt, deltas.binIdxs, changes, deltas.shares);
        return (FullMath.divCeil(amount0, MULTIPLIER0), FullMath.divCeil(amount1, MULTIPLIER1));
    }

    /// Raw amounts paid for the burnt shares, rounded down.
    function _burn(address owner, uint80 salt, LiquidityDelta calldata deltas)
        private
        returns (uint256 amount0, uint256 amount1)
    {
        uint256 count = deltas.binIdxs.length;
        if (count != deltas.shares.length) revert MismatchedLengths();
        BinBalanceDelta[] memory changes = new BinBalanceDelta[](count);
        for (uint256 i = 0; i < count; i++) {
            (int256 index, uint256 shares) = (deltas.binIdxs[i], deltas.shares[i]);
            (BinState memory bin, uint256 total) = (bins[index], binShares[index]);
            if (total == 0) revert SharesBelowMinimum(index);
            uint256 take0 = FullMath.mulDivFloor(bin.token0BalanceScaled, shares, total);
            uint256 take1 = FullMath.mulDivFloor(bin.token1BalanceScaled, shares, total);
            _book(index, owner, salt, -int256(shares), -int256(take0), -int256(take1));
            changes[i] = BinBalanceDelta(-int256(take0), -int256(take1));
            amount0 += take0;
            amount1 += take1;
        }
        emit LiquidityRemoved(owner, salt, deltas.binIdxs, changes, deltas.shares);
        return (amount0 / MULTIPLIER0, amount1 / MULTIPLIER1);
    }

    /// Scaled amounts of new shares: pro rata in a funded bin; in an empty one the initial amount per share, of token0
    /// above the cursor, of token1 below it, of both in the current bin by the cursor's position.
    function _cost(int256 index, uint256 shares) private view returns (uint256 add0, uint256 add1) {
        if (index < LOWEST_BIN || index > HIGHEST_BIN) revert BinOutOfRange(index);
        uint256 total = binShares[index];
        if (total > 0) {
            BinState memory bin = bins[index];
            add0 = FullMath.mulDivCeil(bin.token0BalanceScaled, shares, total);
            add1 = FullMath.mulDivCeil(bin.token1BalanceScaled, shares, total);
            return (add0, add1);
        }
        (int256 current, uint256 position,) = _cursor();
        uint256 below = index < current ? BinMath.M : index > current ? 0 : position;
        uint256 whole0 = FullMath.mulDivCeil(shares, INITIAL0_PER_SHARE_E18, E18);
        uint256 whole1 = FullMath.mulDivCeil(shares, INITIAL1_PER_SHARE_E18, E18);
        add0 = FullMath.mulDivCeil(whole0, BinMath.M - below, BinMath.M);
        add1 = FullMath.mulDivCeil(whole1, below, BinMath.M);
    }

    /// Books shares and balances of one bin. A bin keeps no shares or at least the minimum.
    function _book(int256 index, address owner, uint80 salt, int256 shares, int256 add0, int256 add1) private {
        bytes32 key = keccak256(abi.encode(owner, salt, index));
        positionShares[key] = _plus(positionShares[key], shares);
        uint256 total = _plus(binShares[index], shares);
        if (total != 0 && total < MINIMAL_LIQUIDITY) revert SharesBelowMinimum(index);
        binShares[index] = total;
        BinState storage bin = bins[index];
        bin.token0BalanceScaled = FullMath.toUint104(_plus(bin.token0BalanceScaled, add0));
        bin.token1BalanceScaled = FullMath.toUint104(_plus(bin.token1BalanceScaled, add1));
        binTotals.token0 = FullMath.toUint128(_plus(binTotals.token0, add0));
        binTotals.token1 = FullMath.toUint128(_plus(binTotals.token1, add1));
    }

    function _plus(uint256 value, int256 delta) private pure returns (uint256) {
        return delta < 0 ? value - uint256(-delta) : value + uint256(delta);
    }

    function _collectDeposit(uint256 amount0, uint256 amount1, bytes calldata callbackData) private {
        uint256 before0 = IERC20(TOKEN0).balanceOf(address(this));
        uint256 before1 = IERC20(TOKEN1).balanceOf(address(this));
        IMetricOmmModifyLiquidityCallback(msg.sender).metricOmmModifyLiquidityCallback(amount0, amount1, callbackData);
        if (IERC20(TOKEN0).balanceOf(address(this)) < before0 + amount0) revert InsufficientDeposit();
        if (IERC20(TOKEN1).balanceOf(address(this)) < before1 + amount1) revert InsufficientDeposit();
    }
}
