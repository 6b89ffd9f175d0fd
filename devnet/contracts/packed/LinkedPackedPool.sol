// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolImmutables, PoolStart} from "../interfaces/PoolTypes.sol";
import {BinFill} from "../libraries/BinMath.sol";
import {PackedPool} from "./PackedPool.sol";
import {PackedVariant} from "./PackedTypes.sol";
import {FeeCurve, PackedCurve} from "./libraries/PackedCurve.sol";

/// The arithmetic of a bin as a library with an address of its own.
library LinkedCurve {
    function fill(FeeCurve memory curve, bool exactInput, uint256 remaining, uint256 most)
        public
        pure
        returns (BinFill memory)
    {
        return exactInput
            ? PackedCurve.fillExactInput(curve, remaining, most)
            : PackedCurve.fillExactOutput(curve, remaining < most ? remaining : most);
    }
}

/// A pool that delegates its arithmetic to the library, as the flat core's releases do.
contract LinkedPackedPool is PackedPool {
    constructor(PoolImmutables memory fixedPart, PoolStart memory start, PackedVariant memory variant)
        PackedPool(fixedPart, start, variant)
    {}

    function _fillCurve(FeeCurve memory curve, bool exactInput, uint256 remaining, uint256 most)
        internal
        pure
        override
        returns (BinFill memory)
    {
        return LinkedCurve.fill(curve, exactInput, remaining, most);
    }
}
