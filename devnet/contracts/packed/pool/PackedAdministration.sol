// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolPayouts} from "../../pool/PoolPayouts.sol";
import {PackedHead} from "./PackedHead.sol";

/// Settings of the packed generation: the factory decides, the pool obeys.
abstract contract PackedAdministration is PackedHead, PoolPayouts {
    event SpreadFeeUpdated(uint24 spreadFeeE6);
    event NotionalFeeUpdated(uint24 notionalFeeE8);
    event PauseLevelUpdated(uint8 previousLevel, uint8 newLevel);
    event BinAdditionalFeesUpdated(int16 indexed bin, uint16 addFeeBuyE6, uint16 addFeeSellE6);
    event BidAskRefAsymmetryUpdated(uint16 bidAskRefAsymmetryX8);

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
        emit BinAdditionalFeesUpdated(bin, addFeeBuyE6, addFeeSellE6);
    }

    function setPauseLevel(uint8 newLevel) external onlyFactory {
        emit PauseLevelUpdated(pauseLevel, newLevel);
        pauseLevel = newLevel;
    }

    function setBidAskRefAsymmetryX8(uint16 newAsymmetryX8) external onlyFactory {
        bidAskRefAsymmetryX8 = newAsymmetryX8;
        emit BidAskRefAsymmetryUpdated(newAsymmetryX8);
    }
}
