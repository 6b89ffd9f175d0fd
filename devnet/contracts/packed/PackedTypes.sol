// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// How base, bin and notional fee make a price. The first five are what readers guess; the others are in no list.
enum FeeRule {
    /// Input before fees x (1 + base + bin); the notional fee on the whole swap, as in the flat generation.
    Older,
    /// One fee, the sum of the three, on both edges of a bin; prices between them are interpolated.
    SumOnEdges,
    /// One fee, the product of 1 + each, on both edges.
    ProductOnEdges,
    /// The sum, on the interpolated price.
    SumOnPrice,
    /// The product, on the interpolated price.
    ProductOnPrice,
    /// (1 + base) / (1 - bin - notional) on the input before fees, rounded for the trader.
    Quotient,
    /// The sum and a quarter of the price's distance from the reference, on the interpolated price.
    Growing,
    /// The sum of base and bin on the interpolated price. The notional fee comes off the output, rounded down for an exact
    /// input. For an exact output, as much more leaves the bins, and the fee is rounded up.
    OffOutput
}

/// How a factory's pools differ from those of another one. Every choice is one of two except the rule.
struct PackedVariant {
    FeeRule rule;
    /// BinSwapped.fees: token0 and token1; otherwise fee of the providers and of the platform.
    bool feesByToken;
    /// Swap.platformFees: token0 and token1; otherwise spread part and notional fee.
    bool platformFeesByToken;
    /// Swap.details from the lowest bit: direction, exact input, 6 empty bits, bin, position; otherwise position, bin,
    /// direction, exact input.
    bool flagsFirst;
    /// BinSwapped.binDeltas in raw units, rounded towards zero, rather than in scaled ones.
    bool rawDeltas;
    /// Swaps whose input or output rounds to zero raw units revert. So do, by the rule OffOutput, exact outputs for which
    /// the bins hold too little; else they give what there is.
    bool zeroReverts;
}

/// What a provider of this generation answers: token1 per token0 in whole tokens, Q64.64.
struct Quote {
    uint128 bidX64;
    uint128 askX64;
    uint128 referenceX64;
}

interface IQuoteProvider {
    function token0() external view returns (address);

    function token1() external view returns (address);

    function getQuote() external view returns (uint128 bidX64, uint128 askX64, uint128 referenceX64);
}
