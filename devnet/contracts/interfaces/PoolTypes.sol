// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Per phase, up to seven 3-bit extension numbers (1-based, least significant first, 0 ends the list).
struct ExtensionOrders {
    uint256 beforeAddLiquidity;
    uint256 afterAddLiquidity;
    uint256 beforeRemoveLiquidity;
    uint256 afterRemoveLiquidity;
    uint256 beforeSwap;
    uint256 afterSwap;
}

/// Change of a bin's balances, scaled units, positive into the bin.
struct BinBalanceDelta {
    int256 delta0Scaled;
    int256 delta1Scaled;
}

struct LiquidityDelta {
    int256[] binIdxs;
    uint256[] shares;
}

/// One storage word: balances in scaled units, length and fees in millionths.
struct BinState {
    uint104 token0BalanceScaled;
    uint104 token1BalanceScaled;
    uint16 lengthE6;
    uint16 addFeeBuyE6;
    uint16 addFeeSellE6;
}

struct ScaledPair {
    uint128 token0;
    uint128 token1;
}

struct PoolImmutables {
    address factory;
    address token0;
    address token1;
    uint256 token0ScaleMultiplier;
    uint256 token1ScaleMultiplier;
    uint256 initialScaledToken0PerShareE18;
    uint256 initialScaledToken1PerShareE18;
    uint256 minimalMintableLiquidity;
    address immutablePriceProvider;
    int256 lowestBin;
    int256 highestBin;
    address extension1;
    address extension2;
    address extension3;
    address extension4;
    address extension5;
    address extension6;
    address extension7;
    uint256 beforeAddLiquidityOrder;
    uint256 afterAddLiquidityOrder;
    uint256 beforeRemoveLiquidityOrder;
    uint256 afterRemoveLiquidityOrder;
    uint256 beforeSwapOrder;
    uint256 afterSwapOrder;
}

/// What a pool's constructor takes besides its immutables.
struct PoolStart {
    address mutablePriceProvider;
    int24 curBinDistFromProvidedPriceE6;
    uint24 spreadFeeE6;
    uint24 notionalFeeE8;
    /// Packed generation only.
    uint16 bidAskRefAsymmetryX8;
    uint256[] nonNegativeBinDataArray;
    uint256[] negativeBinDataArray;
}

/// How collected fees are divided: the four parts of the pool's fees, and who gets them.
struct FeeSplit {
    uint24 protocolSpreadFeeE6;
    uint24 adminSpreadFeeE6;
    uint24 protocolNotionalFeeE8;
    uint24 adminNotionalFeeE8;
    address protocolDestination;
    address adminDestination;
}

/// What swap extensions receive before a swap.
struct SwapContext {
    address sender;
    address recipient;
    bool zeroForOne;
    int128 amountSpecified;
    uint128 bidPriceX64;
    uint128 askPriceX64;
    /// Zero in the flat generation, whose providers give none.
    uint128 referencePriceX64;
    int16 startBin;
}

/// What swap extensions receive after a swap, besides its context. Amounts are raw, positive into the pool.
struct SwapOutcome {
    int16 endBin;
    int256 amount0Delta;
    int256 amount1Delta;
}
