// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinState, PoolImmutables, PoolStart, ScaledPair} from "../interfaces/PoolTypes.sol";
import {BinData} from "../libraries/BinData.sol";

/// Storage of a pool after its first word, as readers expect it, and its raw reads. Order and types of the variables are
/// the interface: a pool has no view getters. Slot 0, the head, differs by generation: inherit it before this.
abstract contract PoolState {
    error Locked();
    error OnlyFactory();

    // Slots 1 and 2
    ScaledPair internal binTotals;
    ScaledPair internal notionalFees;
    // Slot 3
    address internal mutablePriceProvider;
    // Slots 4 to 6
    mapping(int256 => BinState) internal bins;
    mapping(int256 => uint256) internal binShares;
    mapping(bytes32 => uint256) internal positionShares;

    bool internal transient locked;
    address internal transient priceReadProvider;

    address internal immutable FACTORY;
    address internal immutable TOKEN0;
    address internal immutable TOKEN1;
    uint256 internal immutable MULTIPLIER0;
    uint256 internal immutable MULTIPLIER1;
    uint256 internal immutable INITIAL0_PER_SHARE_E18;
    uint256 internal immutable INITIAL1_PER_SHARE_E18;
    uint256 internal immutable MINIMAL_LIQUIDITY;
    address internal immutable IMMUTABLE_PRICE_PROVIDER;
    int256 internal immutable LOWEST_BIN;
    int256 internal immutable HIGHEST_BIN;
    address internal immutable EXTENSION1;
    address internal immutable EXTENSION2;
    address internal immutable EXTENSION3;
    address internal immutable EXTENSION4;
    address internal immutable EXTENSION5;
    address internal immutable EXTENSION6;
    address internal immutable EXTENSION7;
    uint256 internal immutable BEFORE_ADD_ORDER;
    uint256 internal immutable AFTER_ADD_ORDER;
    uint256 internal immutable BEFORE_REMOVE_ORDER;
    uint256 internal immutable AFTER_REMOVE_ORDER;
    uint256 internal immutable BEFORE_SWAP_ORDER;
    uint256 internal immutable AFTER_SWAP_ORDER;

    modifier nonReentrant() {
        _lock();
        _;
        locked = false;
    }

    modifier onlyFactory() {
        if (msg.sender != FACTORY) revert OnlyFactory();
        _;
    }

    constructor(PoolImmutables memory fixedPart, PoolStart memory start) {
        FACTORY = fixedPart.factory;
        TOKEN0 = fixedPart.token0;
        TOKEN1 = fixedPart.token1;
        MULTIPLIER0 = fixedPart.token0ScaleMultiplier;
        MULTIPLIER1 = fixedPart.token1ScaleMultiplier;
        INITIAL0_PER_SHARE_E18 = fixedPart.initialScaledToken0PerShareE18;
        INITIAL1_PER_SHARE_E18 = fixedPart.initialScaledToken1PerShareE18;
        MINIMAL_LIQUIDITY = fixedPart.minimalMintableLiquidity;
        IMMUTABLE_PRICE_PROVIDER = fixedPart.immutablePriceProvider;
        LOWEST_BIN = fixedPart.lowestBin;
        HIGHEST_BIN = fixedPart.highestBin;
        EXTENSION1 = fixedPart.extension1;
        EXTENSION2 = fixedPart.extension2;
        EXTENSION3 = fixedPart.extension3;
        EXTENSION4 = fixedPart.extension4;
        EXTENSION5 = fixedPart.extension5;
        EXTENSION6 = fixedPart.extension6;
        EXTENSION7 = fixedPart.extension7;
        BEFORE_ADD_ORDER = fixedPart.beforeAddLiquidityOrder;
        AFTER_ADD_ORDER = fixedPart.afterAddLiquidityOrder;
        BEFORE_REMOVE_ORDER = fixedPart.beforeRemoveLiquidityOrder;
        AFTER_REMOVE_ORDER = fixedPart.afterRemoveLiquidityOrder;
        BEFORE_SWAP_ORDER = fixedPart.beforeSwapOrder;
        AFTER_SWAP_ORDER = fixedPart.afterSwapOrder;
        mutablePriceProvider = start.mutablePriceProvider;
        for (int256 i = 0; i <= fixedPart.highestBin; i++) {
            bins[i] = BinData.binAt(start.nonNegativeBinDataArray, uint256(i));
        }
        for (int256 i = -1; i >= fixedPart.lowestBin; i--) {
            bins[i] = BinData.binAt(start.negativeBinDataArray, uint256(-i - 1));
        }
    }

    function getImmutables() external view returns (PoolImmutables memory fixedPart) {
        fixedPart.factory = FACTORY;
        fixedPart.token0 = TOKEN0;
        fixedPart.token1 = TOKEN1;
        fixedPart.token0ScaleMultiplier = MULTIPLIER0;
        fixedPart.token1ScaleMultiplier = MULTIPLIER1;
        fixedPart.initialScaledToken0PerShareE18 = INITIAL0_PER_SHARE_E18;
        fixedPart.initialScaledToken1PerShareE18 = INITIAL1_PER_SHARE_E18;
        fixedPart.minimalMintableLiquidity = MINIMAL_LIQUIDITY;
        fixedPart.immutablePriceProvider = IMMUTABLE_PRICE_PROVIDER;
        fixedPart.lowestBin = LOWEST_BIN;
        fixedPart.highestBin = HIGHEST_BIN;
        fixedPart.extension1 = EXTENSION1;
        fixedPart.extension2 = EXTENSION2;
        fixedPart.extension3 = EXTENSION3;
        fixedPart.extension4 = EXTENSION4;
        fixedPart.extension5 = EXTENSION5;
        fixedPart.extension6 = EXTENSION6;
        fixedPart.extension7 = EXTENSION7;
        fixedPart.beforeAddLiquidityOrder = BEFORE_ADD_ORDER;
        fixedPart.afterAddLiquidityOrder = AFTER_ADD_ORDER;
        fixedPart.beforeRemoveLiquidityOrder = BEFORE_REMOVE_ORDER;
        fixedPart.afterRemoveLiquidityOrder = AFTER_REMOVE_ORDER;
        fixedPart.beforeSwapOrder = BEFORE_SWAP_ORDER;
        fixedPart.afterSwapOrder = AFTER_SWAP_ORDER;
    }

    function extsload(bytes32 slot) external view returns (bytes32) {
        return _load(slot);
    }

    function extsload(bytes32 startSlot, uint256 nSlots) external view returns (bytes32[] memory words) {
        words = new bytes32[](nSlots);
        for (uint256 i = 0; i < nSlots; i++) {
            words[i] = _load(bytes32(uint256(startSlot) + i));
        }
    }

    function extsload(bytes32[] calldata slots) external view returns (bytes32[] memory words) {
        words = new bytes32[](slots.length);
        for (uint256 i = 0; i < slots.length; i++) {
            words[i] = _load(slots[i]);
        }
    }

    /// Current bin, position in it, and distance of its lower edge from the ladder's anchor, millionths.
    function _cursor() internal view virtual returns (int256 bin, uint256 position, int256 distanceE6);

    function _lock() internal {
        if (locked) revert Locked();
        locked = true;
    }

    function _load(bytes32 slot) private view returns (bytes32 word) {
        assembly ("memory-safe") {
            word := sload(slot)
        }
    }
}
