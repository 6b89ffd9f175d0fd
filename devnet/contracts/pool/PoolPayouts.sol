// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {FeeSplit, ScaledPair} from "../interfaces/PoolTypes.sol";
import {IERC20} from "../interfaces/IERC20.sol";
import {IPoolAdministration} from "../interfaces/IPool.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {SafeTransfer} from "../libraries/SafeTransfer.sol";
import {PoolState} from "./PoolState.sol";

/// What the factory decides about a pool of either generation: its provider, its bins' fees, and when fees are paid out.
abstract contract PoolPayouts is PoolState, IPoolAdministration {
    event PriceProviderUpdated(address indexed newPriceProvider);
    event ProtocolFeesCollected(
        uint256 amount0ToProtocol, uint256 amount1ToProtocol, uint256 amount0ToAdmin, uint256 amount1ToAdmin
    );

    error UnknownBin(int256 bin);
    error ProviderIsImmutable();

    function setPriceProvider(address newPriceProvider) external onlyFactory {
        if (IMMUTABLE_PRICE_PROVIDER != address(0)) revert ProviderIsImmutable();
        mutablePriceProvider = newPriceProvider;
        emit PriceProviderUpdated(newPriceProvider);
    }

    /// Pays out all that the pool holds beyond its bins: notional fees by the notional parts, the rest by the spread parts.
    function collectFees(FeeSplit calldata split) external onlyFactory nonReentrant {
        ScaledPair memory notional = notionalFees;
        delete notionalFees;
        (uint256 protocol0, uint256 admin0) = _payFees(split, TOKEN0, MULTIPLIER0, binTotals.token0, notional.token0);
        (uint256 protocol1, uint256 admin1) = _payFees(split, TOKEN1, MULTIPLIER1, binTotals.token1, notional.token1);
        emit ProtocolFeesCollected(protocol0, protocol1, admin0, admin1);
    }

    function _setBinFees(int256 bin, uint16 addFeeBuyE6, uint16 addFeeSellE6) internal {
        if (bin < LOWEST_BIN || bin > HIGHEST_BIN) revert UnknownBin(bin);
        bins[bin].addFeeBuyE6 = addFeeBuyE6;
        bins[bin].addFeeSellE6 = addFeeSellE6;
    }

    function _payFees(
        FeeSplit calldata split,
        address token,
        uint256 multiplier,
        uint256 inBins,
        uint256 notionalScaled
    ) private returns (uint256 toProtocol, uint256 toAdmin) {
        uint256 surplus = (IERC20(token).balanceOf(address(this)) * multiplier - inBins) / multiplier;
        uint256 notional = notionalScaled / multiplier;
        toAdmin = _share(notional, split.adminNotionalFeeE8, split.protocolNotionalFeeE8)
            + _share(surplus - notional, split.adminSpreadFeeE6, split.protocolSpreadFeeE6);
        toProtocol = surplus - toAdmin;
        SafeTransfer.pay(token, split.adminDestination, toAdmin);
        SafeTransfer.pay(token, split.protocolDestination, toProtocol);
    }

    /// The admin's share of an amount, rounded down.
    function _share(uint256 amount, uint256 adminPart, uint256 protocolPart) private pure returns (uint256) {
        return adminPart == 0 ? 0 : FullMath.mulDivFloor(amount, adminPart, adminPart + protocolPart);
    }
}
