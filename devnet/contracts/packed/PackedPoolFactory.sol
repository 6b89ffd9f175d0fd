// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {FactoryPoolCreation, PoolParameters} from "../factory/FactoryPoolCreation.sol";
import {PackedAdministration} from "./pool/PackedAdministration.sol";

/// Factory of the packed generation. Initial amounts of new pools are scaled units.
contract PackedPoolFactory is FactoryPoolCreation {
    event PoolBidAskRefAsymmetryUpdated(address indexed pool, uint16 newBidAskRefAsymmetryX8);
    event MaxBidAskRefAsymmetryUpdated(uint16 oldMaxX8, uint16 newMaxX8);
    event ModeratorUpdated(address indexed moderator, bool enabled);
    event FeeReceiverUpdated(address indexed oldReceiver, address indexed newReceiver);
    event BinDistanceLimitsUpdated(int256 newMinBinDistanceE6, int256 newMaxBinDistanceE6);

    error BidAskRefAsymmetryTooHigh();
    error InvalidBinDistanceLimits();

    uint16 public maxBidAskRefAsymmetryX8;
    int128 public minBinDistanceE6;
    int128 public maxBinDistanceE6;
    /// Gets the protocol's part of fees; the factory itself when zero.
    address public feeReceiver;
    /// May pause pools for the protocol.
    mapping(address => bool) public isModerator;

    constructor() {
        setMaxBidAskRefAsymmetryX8(type(uint16).max);
        setBinDistanceLimits(1 - 1e6, type(int24).max);
    }

    /// A new pool with a setting that no event of its creation contains.
    function createPoolWithAsymmetry(PoolParameters calldata params, uint16 bidAskRefAsymmetryX8)
        external
        returns (address pool)
    {
        if (bidAskRefAsymmetryX8 > maxBidAskRefAsymmetryX8) revert BidAskRefAsymmetryTooHigh();
        return _create(params, bidAskRefAsymmetryX8);
    }

    function setPoolBidAskRefAsymmetryX8(address pool, uint16 newAsymmetryX8) external onlyPoolAdmin(pool) {
        if (newAsymmetryX8 > maxBidAskRefAsymmetryX8) revert BidAskRefAsymmetryTooHigh();
        PackedAdministration(pool).setBidAskRefAsymmetryX8(newAsymmetryX8);
        emit PoolBidAskRefAsymmetryUpdated(pool, newAsymmetryX8);
    }

    function setPoolBinAdditionalFees(address pool, int16 bin, uint16 addFeeBuyE6, uint16 addFeeSellE6)
        external
        onlyPoolAdmin(pool)
    {
        PackedAdministration(pool).setBinAdditionalFees(bin, addFeeBuyE6, addFeeSellE6);
    }

    function setModerator(address moderator, bool enabled) external onlyProtocol {
        isModerator[moderator] = enabled;
        emit ModeratorUpdated(moderator, enabled);
    }

    function setFeeReceiver(address newReceiver) external onlyProtocol {
        emit FeeReceiverUpdated(feeReceiver, newReceiver);
        feeReceiver = newReceiver;
    }

    function setMaxBidAskRefAsymmetryX8(uint16 newMaxX8) public onlyProtocol {
        emit MaxBidAskRefAsymmetryUpdated(maxBidAskRefAsymmetryX8, newMaxX8);
        maxBidAskRefAsymmetryX8 = newMaxX8;
    }

    function setBinDistanceLimits(int128 newMinBinDistanceE6, int128 newMaxBinDistanceE6) public onlyProtocol {
        if (newMinBinDistanceE6 <= -1e6 || newMaxBinDistanceE6 > type(int24).max) revert InvalidBinDistanceLimits();
        (minBinDistanceE6, maxBinDistanceE6) = (newMinBinDistanceE6, newMaxBinDistanceE6);
        emit BinDistanceLimitsUpdated(newMinBinDistanceE6, newMaxBinDistanceE6);
    }

    function _mostBins() internal pure override returns (uint256) {
        return 32_768;
    }

    function _distanceLimits() internal view override returns (int256, int256) {
        return (minBinDistanceE6, maxBinDistanceE6);
    }

    function _initialScaled(uint256 amountPerShareE18, uint256) internal pure override returns (uint256) {
        return amountPerShareE18;
    }

    function _mayPause(address account) internal view override returns (bool) {
        return isModerator[account] || super._mayPause(account);
    }

    function _protocolDestination() internal view override returns (address) {
        return feeReceiver == address(0) ? super._protocolDestination() : feeReceiver;
    }
}
