// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {FeeSplit, LiquidityDelta, PoolImmutables} from "./PoolTypes.sol";

/// What users and helpers call.
interface IPool {
    function getImmutables() external view returns (PoolImmutables memory);

    function getSellAndBuyPrices() external returns (uint128 sellPriceX64, uint128 buyPriceX64);

    /// The price provider while the pool reads its price, else zero.
    function inSwap() external view returns (address priceProvider);

    function extsload(bytes32 slot) external view returns (bytes32);

    function extsload(bytes32 startSlot, uint256 nSlots) external view returns (bytes32[] memory);

    function extsload(bytes32[] calldata slots) external view returns (bytes32[] memory);

    /// Positive `amountSpecified` = exact input, negative = exact output, raw units. Amounts returned are positive into the pool.
    function swap(
        address recipient,
        bool zeroForOne,
        int128 amountSpecified,
        uint128 priceLimitX64,
        bytes calldata callbackData,
        bytes calldata extensionData
    ) external returns (int128 amount0Delta, int128 amount1Delta);

    function simulateSwapAndRevert(
        address recipient,
        bool zeroForOne,
        int128 amountSpecified,
        uint128 priceLimitX64,
        uint128 bidPriceX64,
        uint128 askPriceX64,
        bytes calldata extensionData
    ) external returns (int128 amount0Delta, int128 amount1Delta);

    function addLiquidity(
        address owner,
        uint80 salt,
        LiquidityDelta calldata deltas,
        bytes calldata callbackData,
        bytes calldata extensionData
    ) external returns (uint256 amount0, uint256 amount1);

    function removeLiquidity(
        address owner,
        uint80 salt,
        LiquidityDelta calldata deltas,
        bytes calldata extensionData
    ) external returns (uint256 amount0, uint256 amount1);
}

/// What only the factory may call.
interface IPoolAdministration {
    function setFees(uint24 spreadFeeE6, uint24 notionalFeeE8) external;

    function setBinAdditionalFees(int16 bin, uint16 addFeeBuyE6, uint16 addFeeSellE6) external;

    function setPauseLevel(uint8 newLevel) external;

    function setPriceProvider(address newPriceProvider) external;

    function collectFees(FeeSplit calldata split) external;
}

interface IMetricOmmSwapCallback {
    function metricOmmSwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata data) external;
}

interface IMetricOmmModifyLiquidityCallback {
    function metricOmmModifyLiquidityCallback(uint256 amount0, uint256 amount1, bytes calldata data) external;
}
