// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinCurve, BinFill, BinMath} from "../../libraries/BinMath.sol";
import {FullMath} from "../../libraries/FullMath.sol";
import {FeeRule} from "../PackedTypes.sol";

/// Where a swap meets a bin of this generation: the bin without fees, and how fees act. Prices are Q64.64.
struct FeeCurve {
    FeeRule rule;
    /// What the fees make of an input of 1, where they do not grow.
    uint256 factorX64;
    /// The provider's reference.
    uint256 anchorX64;
    /// Its own fee is zero.
    BinCurve bare;
}

/// Cost of a bin's contents by each rule.
library PackedCurve {
    uint256 private constant Q64 = BinMath.Q64;
    uint256 private constant Q128 = BinMath.Q128;

    /// Fees as fractions, Q64.64, to the factor of a rule.
    function factor(FeeRule rule, uint256 base, uint256 bin, uint256 notional) internal pure returns (uint256) {
        if (rule == FeeRule.Older || rule == FeeRule.OffOutput) return Q64 + base + bin;
        if (rule == FeeRule.Quotient) return FullMath.mulDivFloor(Q64 + base, Q64, Q64 - bin - notional);
        if (rule == FeeRule.ProductOnEdges || rule == FeeRule.ProductOnPrice) {
            return FullMath.mulDivCeil(FullMath.mulDivCeil(Q64 + base, Q64 + bin, Q64), Q64 + notional, Q64);
        }
        return Q64 + base + bin + notional;
    }

    /// Takes exactly `output` (0 to available).
    function fillExactOutput(FeeCurve memory curve, uint256 output) internal pure returns (BinFill memory fill) {
        fill = BinMath.fillExactOutput(curve.bare, output);
        uint256 fee = curve.factorX64 - Q64;
        if (curve.rule == FeeRule.Older) {
            fill.fee = FullMath.mulDivCeil(fill.net, fee, Q64);
        } else if (curve.rule == FeeRule.Quotient) {
            fill.fee = FullMath.mulDivFloor(fill.net, fee, Q64);
        } else {
            uint256 average = (_paidPrice(curve, curve.bare.position) + _paidPrice(curve, fill.position) + 1) / 2;
            fill.fee = FullMath.mulDivCeil(output, average, Q64) - fill.net;
        }
    }

    /// Takes what `input` pays for, at most `maxOutput`. Unless it takes all of that, it consumes the whole input.
    function fillExactInput(FeeCurve memory curve, uint256 input, uint256 maxOutput)
        internal
        pure
        returns (BinFill memory fill)
    {
        fill = fillExactOutput(curve, maxOutput);
        if (fill.net + fill.fee <= input) return fill;
        fill = fillExactOutput(curve, _largestAffordable(curve, input, maxOutput));
        fill.fee = input - fill.net;
    }

    /// Token1 per token0 with fees at a position, as a pool shows it: up for a buy, down for a sale.
    function shownPrice(FeeCurve memory curve, uint256 position) internal pure returns (uint256) {
        (uint256 lower, uint256 upper) = (curve.bare.lowerX64, curve.bare.upperX64);
        bool zeroForOne = curve.bare.zeroForOne;
        uint256 factorX64 = curve.factorX64;
        if (curve.rule == FeeRule.SumOnEdges || curve.rule == FeeRule.ProductOnEdges) {
            lower = _withFee(lower, factorX64, zeroForOne);
            upper = _withFee(upper, factorX64, zeroForOne);
            factorX64 = Q64;
        }
        uint256 price = zeroForOne
            ? BinMath.priceFloor(lower, upper, position)
            : BinMath.priceCeil(lower, upper, position);
        if (curve.rule == FeeRule.Growing) {
            uint256 anchor = curve.anchorX64;
            factorX64 += FullMath.mulDivCeil(price > anchor ? price - anchor : anchor - price, Q64 / 4, anchor);
        }
        return _withFee(price, factorX64, zeroForOne);
    }

    /// The largest output, below `high`, that costs no more than `input`: a guess, then a search around it.
    function _largestAffordable(FeeCurve memory curve, uint256 input, uint256 high) private pure returns (uint256 low) {
        uint256 net = FullMath.mulDivFloor(input, Q64, curve.factorX64);
        uint256 probe = BinMath.fillExactInput(curve.bare, net, high).output;
        for (uint256 step = 1; high - low > 1; step <<= 2) {
            if (probe <= low || probe >= high) probe = low + (high - low) / 2;
            BinFill memory fill = fillExactOutput(curve, probe);
            if (fill.net + fill.fee <= input) {
                low = probe;
                probe += step;
            } else {
                high = probe;
                probe = probe > step ? probe - step : 0;
            }
        }
    }

    function _withFee(uint256 price, uint256 factorX64, bool zeroForOne) private pure returns (uint256) {
        return zeroForOne
            ? FullMath.mulDivFloor(price, Q64, factorX64)
            : FullMath.mulDivCeil(price, factorX64, Q64);
    }

    /// Input per output at a position.
    function _paidPrice(FeeCurve memory curve, uint256 position) private pure returns (uint256) {
        uint256 price = shownPrice(curve, position);
        return curve.bare.zeroForOne ? FullMath.divCeil(Q128, price) : price;
    }
}
