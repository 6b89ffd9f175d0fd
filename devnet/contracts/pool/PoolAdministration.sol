// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolHead} from "./PoolHead.sol";
import {PoolPayouts} from "./PoolPayouts.sol";

/// Settings of the flat generation: the factory decides, the pool obeys.
abstract contract PoolAdministration is PoolHead, PoolPayouts {
    event SpreadFeeUpdated(uint24 spreadFeeE6);
    event NotionalFeeUpdated(uint24 notionalFeeE8);
    event PauseLevelUpdated(uint8 previousLevel, uint8 newLevel);
    event BinAdditionalFeesUpdated(int8 indexed bin, uint16 addFeeBuyE6, uint16 addFeeSellE6);

    function setFees(uint24 newSpreadFeeE6, uint24 newNotionalFeeE8) external onlyFactory {
        if (newSpreadFeeE6 != spreadFeeE6) {
            spreadFeeE6 = newSpreadFeeE6;
            emit SpreadFeeUpdated(newSpreadFeeE6);
        }
        if (newNotionalFeeE8 != notionalFeeE8) {
            notionalFeeE8 = newNotionalFeeE8;
            emit NotionalFeeUpdated(newNotionalFeeE8);
        }
    }

    function setBinAdditionalFees(int16 bin, uint16 addFeeBuyE6, uint16 addFeeSellE6) external onlyFactory {
        _setBinFees(bin, addFeeBuyE6, addFeeSellE6);
        emit BinAdditionalFeesUpdated(int8(bin), addFeeBuyE6, addFeeSellE6);
    }

    function setPauseLevel(uint8 newLevel) external onlyFactory {
        emit PauseLevelUpdated(pauseLevel, newLevel);
        pauseLevel = newLevel;
    }
}
