// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinState} from "../../interfaces/PoolTypes.sol";
import {BinCurve, BinMath} from "../../libraries/BinMath.sol";
import {FullMath} from "../../libraries/FullMath.sol";
import {PoolProvider} from "../../pool/PoolProvider.sol";
import {FeeRule, IQuoteProvider, PackedVariant, Quote} from "../PackedTypes.sol";
import {FeeCurve, PackedCurve} from "../libraries/PackedCurve.sol";
import {PackedHead} from "./PackedHead.sol";

/// How a pool reads its provider, and the prices it shows: the ladder is anchored at the provider's reference.
abstract contract PackedPrices is PackedHead, PoolProvider {
    error ReferencePriceOutOfRange();

    FeeRule internal immutable RULE;

    constructor(PackedVariant memory variant) {
        RULE = variant.rule;
    }

    function getSellAndBuyPrices() external returns (uint128 sellPriceX64, uint128 buyPriceX64) {
        Quote memory quote = _readProvider();
        return (_shownPrice(quote, true), _shownPrice(quote, false));
    }

    function _cursor() internal view override returns (int256, uint256, int256) {
        return (curBinIdx, curPosInBin, curBinDistE6);
    }

    function _readProvider() internal returns (Quote memory quote) {
        quote = abi.decode(_askProvider(IQuoteProvider.getQuote.selector, 3), (Quote));
        _checkQuote(quote);
    }

    function _checkQuote(Quote memory quote) internal pure {
        if (quote.bidX64 == 0) revert BidIsZero();
        if (quote.bidX64 > quote.askX64) revert BidGreaterThanAsk();
        if (quote.referenceX64 < quote.bidX64 || quote.referenceX64 > quote.askX64) revert ReferencePriceOutOfRange();
    }

    /// What the provider's spread costs a side: its distance from the reference, a fraction Q64.64, rounded up.
    function _baseFee(Quote memory quote, bool zeroForOne) internal pure returns (uint256) {
        return zeroForOne
            ? FullMath.mulDivCeil(quote.referenceX64, BinMath.Q64, quote.bidX64) - BinMath.Q64
            : FullMath.mulDivCeil(quote.askX64, BinMath.Q64, quote.referenceX64) - BinMath.Q64;
    }

    function _feeCurve(
        BinState memory bin,
        BinCurve memory bare,
        uint256 anchorX64,
        uint256 baseFee,
        uint256 notionalE8
    ) internal view returns (FeeCurve memory) {
        uint256 binFee = _feeX64(bare.zeroForOne ? bin.addFeeSellE6 : bin.addFeeBuyE6);
        uint256 notional = FullMath.mulDivFloor(notionalE8, BinMath.Q64, E8);
        return FeeCurve(RULE, PackedCurve.factor(RULE, baseFee, binFee, notional), anchorX64, bare);
    }

    /// Whether the swap as a whole pays the notional fee, rather than each bin.
    function _isNotionalAtEnd() internal view returns (bool) {
        return RULE == FeeRule.Older || RULE == FeeRule.OffOutput;
    }

    function _shownPrice(Quote memory quote, bool zeroForOne) private view returns (uint128) {
        BinState memory bin = bins[curBinIdx];
        BinCurve memory bare;
        bare.zeroForOne = zeroForOne;
        bare.lowerX64 = BinMath.edgePrice(quote.referenceX64, curBinDistE6);
        bare.upperX64 = BinMath.edgePrice(quote.referenceX64, curBinDistE6 + int256(uint256(bin.lengthE6)));
        FeeCurve memory curve = _feeCurve(
            bin, bare, quote.referenceX64, _baseFee(quote, zeroForOne), notionalFeeE8
        );
        if (!_isNotionalAtEnd()) return FullMath.toUint128(PackedCurve.shownPrice(curve, curPosInBin));
        uint256 price = BinMath.priceFloor(bare.lowerX64, bare.upperX64, curPosInBin);
        uint256 rest = E8 - notionalFeeE8;
        price = zeroForOne
            ? FullMath.mulDivFloor(FullMath.mulDivFloor(price, BinMath.Q64, curve.factorX64), rest, E8)
            : FullMath.mulDivCeil(FullMath.mulDivCeil(price, curve.factorX64, BinMath.Q64), E8, rest);
        return FullMath.toUint128(price);
    }
}
