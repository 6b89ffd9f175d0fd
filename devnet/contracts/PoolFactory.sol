// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IPoolAdministration} from "./interfaces/IPool.sol";
import {FactoryPoolCreation} from "./factory/FactoryPoolCreation.sol";

/// Factory of the flat generation.
contract PoolFactory is FactoryPoolCreation {
    function setPoolBinAdditionalFees(address pool, int8 bin, uint16 addFeeBuyE6, uint16 addFeeSellE6)
        external
        onlyPoolAdmin(pool)
    {
        IPoolAdministration(pool).setBinAdditionalFees(bin, addFeeBuyE6, addFeeSellE6);
    }

    function _mostBins() internal pure override returns (uint256) {
        return 128;
    }

    function _distanceLimits() internal pure override returns (int256, int256) {
        return (1 - 1e6, type(int24).max);
    }

    /// The creator says raw units.
    function _initialScaled(uint256 amountPerShareE18, uint256 multiplier) internal pure override returns (uint256) {
        return amountPerShareE18 * multiplier;
    }
}
