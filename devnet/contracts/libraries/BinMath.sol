// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {FullMath} from "./FullMath.sol";

/// Where a swap meets a bin. Amounts are scaled units; prices and the fee are Q64.64.
struct BinCurve {
    bool zeroForOne;
    uint256 lowerX64;
    uint256 upperX64;
    uint256 position;
    /// The bin's whole balance of the output token.
    uint256 available;
    uint256 feeX64;
}

/// What a swap takes from a bin and pays for it, scaled units.
struct BinFill {
    uint256 output;
    uint256 net;
    uint256 fee;
    uint256 position;
}

/// Prices inside a bin and the cost of its contents.
library BinMath {
    using FullMath for uint256;

    uint256 internal constant M = type(uint104).max;
    uint256 internal constant Q64 = 1 << 64;
    uint256 internal constant Q96 = 1 << 96;
    uint256 internal constant Q128 = 1 << 128;
    uint256 internal constant E6 = 1e6;

    /// Geometric mean of bid and ask.
    function midPrice(uint128 bidX64, uint128 askX64) internal pure returns (uint256) {
        return FullMath.isqrt(uint256(bidX64) * askX64);
    }

    /// Half the provider's spread as a fee on top of mid.
    function baseFee(uint128 askX64, uint256 midX64) internal pure returns (uint256) {
        return FullMath.mulDivCeil(askX64, Q64, midX64) - Q64;
    }

    /// Price at a signed distance (millionths) from mid.
    function edgePrice(uint256 midX64, int256 distanceE6) internal pure returns (uint256) {
        return FullMath.mulDivFloor(midX64, uint256(int256(E6) + distanceE6), E6);
    }

    function priceFloor(uint256 lowerX64, uint256 upperX64, uint256 position) internal pure returns (uint256) {
        return (lowerX64 * (M - position) + upperX64 * position) / M;
    }

    function priceCeil(uint256 lowerX64, uint256 upperX64, uint256 position) internal pure returns (uint256) {
        return (lowerX64 * (M - position) + upperX64 * position).divCeil(M);
    }

    /// Most that may be taken before the price limit, and whether the limit lies inside the bin.
    function outputWithinLimit(BinCurve memory curve, uint256 limitX64)
        internal
        pure
        returns (uint256 output, bool limited)
    {
        uint256 p = curve.position;
        uint256 width = curve.upperX64 - curve.lowerX64;
        if (curve.zeroForOne) {
            if (limitX64 <= curve.lowerX64) return (curve.available, false);
            if (limitX64 >= priceFloor(curve.lowerX64, curve.upperX64, p)) return (0, true);
            uint256 stop = FullMath.mulDivCeil(limitX64 - curve.lowerX64, M, width);
            return (stop >= p ? 0 : FullMath.mulDivFloor(curve.available, p - stop, p), true);
        }
        if (limitX64 >= curve.upperX64) return (curve.available, false);
        if (limitX64 <= priceCeil(curve.lowerX64, curve.upperX64, p)) return (0, true);
        uint256 end = FullMath.mulDivFloor(limitX64 - curve.lowerX64, M, width);
        return (end <= p ? 0 : FullMath.mulDivFloor(curve.available, end - p, M - p), true);
    }

    /// Takes exactly `output` (0 to available).
    function fillExactOutput(BinCurve memory curve, uint256 output) internal pure returns (BinFill memory fill) {
        fill.output = output;
        fill.position = _positionAfter(curve, output);
        uint256 average = (_paidPrice(curve, curve.position) + _paidPrice(curve, fill.position) + 1) / 2;
        fill.net = FullMath.mulDivCeil(output, average, Q64);
        fill.fee = FullMath.mulDivCeil(fill.net, curve.feeX64, Q64);
    }

    /// Takes what `input` pays for, at most `maxOutput`. Unless it takes all of that, it consumes the whole input:
    /// what exceeds the cost of the output stays in the pool.
    function fillExactInput(BinCurve memory curve, uint256 input, uint256 maxOutput)
        internal
        pure
        returns (BinFill memory fill)
    {
        fill = fillExactOutput(curve, maxOutput);
        if (fill.net + fill.fee <= input) return fill;
        fill = fillExactOutput(curve, _largestAffordable(curve, input, maxOutput));
        fill.fee = input - fill.net;
    }

    /// The largest output, below `high`, that costs no more than `input`: closed form, then a search around it.
    function _largestAffordable(BinCurve memory curve, uint256 input, uint256 high) private pure returns (uint256 low) {
        uint256 probe = _closedForm(curve, input);
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

    /// Solves the bin's quadratic for the output. With n the input before fees, P the price at the cursor and s the
    /// price change per unit of output: a buy gives 2n / (P (1 + sqrt(1 + 2sn/P^2))); a sale, whose cost is the mean
    /// of the inverse prices at both ends, gives 2nP / (1 + sn + sqrt(1 + (sn)^2)).
    function _closedForm(BinCurve memory curve, uint256 input) private pure returns (uint256) {
        uint256 net = FullMath.mulDivFloor(input, Q64, Q64 + curve.feeX64);
        if (curve.zeroForOne) {
            uint256 price = priceFloor(curve.lowerX64, curve.upperX64, curve.position);
            uint256 slopeQ96 = FullMath.mulDivFloor(net * (price - curve.lowerX64), 1 << 32, curve.available);
            uint256 rootQ96 = FullMath.isqrt(Q96 * Q96 + slopeQ96 * slopeQ96);
            return FullMath.mulDivFloor(2 * net * price, 1 << 32, Q96 + slopeQ96 + rootQ96);
        }
        uint256 start = priceCeil(curve.lowerX64, curve.upperX64, curve.position);
        uint256 bend = FullMath.mulDivFloor(2 * (curve.upperX64 - start), net << 64, curve.available);
        uint256 root = FullMath.isqrt(Q96 * Q96 + FullMath.mulDivFloor(bend, Q96 * Q96, start * start));
        return FullMath.mulDivFloor(net << 65, Q96, start * (Q96 + root));
    }

    /// Short of or at the true place, in the pool's favour.
    function _positionAfter(BinCurve memory curve, uint256 output) private pure returns (uint256) {
        if (output == curve.available) return curve.zeroForOne ? 0 : M;
        uint256 p = curve.position;
        return curve.zeroForOne
            ? FullMath.mulDivCeil(p, curve.available - output, curve.available)
            : p + FullMath.mulDivFloor(M - p, output, curve.available);
    }

    /// Input per output at a position, against the trader.
    function _paidPrice(BinCurve memory curve, uint256 position) private pure returns (uint256) {
        return curve.zeroForOne
            ? Q128.divCeil(priceFloor(curve.lowerX64, curve.upperX64, position))
            : priceCeil(curve.lowerX64, curve.upperX64, position);
    }
}
