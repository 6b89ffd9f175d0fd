// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {FeeSplit, PoolImmutables} from "../interfaces/PoolTypes.sol";
import {IPool, IPoolAdministration} from "../interfaces/IPool.sol";
import {IPriceProvider} from "../interfaces/IPriceProvider.sol";
import {FactoryRegistry} from "./FactoryRegistry.sol";

/// Everything about an existing pool that its admin or the protocol decides.
abstract contract FactoryPoolAdministration is FactoryRegistry {
    event PoolAdminSpreadFeeUpdated(address indexed pool, uint24 newAdminSpreadFeeE6);
    event PoolAdminNotionalFeeUpdated(address indexed pool, uint24 newAdminNotionalFeeE8);
    event PoolProtocolSpreadFeeUpdated(address indexed pool, uint24 newProtocolSpreadFeeE6);
    event PoolProtocolNotionalFeeUpdated(address indexed pool, uint24 newProtocolNotionalFeeE8);
    event PoolAdminFeeDestinationUpdated(address indexed pool, address newAdminFeeDestination);
    event PoolAdminTransferProposed(address indexed pool, address indexed currentAdmin, address indexed newAdmin);
    event PoolAdminTransferCancelled(address indexed pool, address indexed cancelledPendingAdmin);
    event PoolAdminTransferred(address indexed pool, address indexed previousAdmin, address indexed newAdmin);
    event PoolPriceProviderChangeProposed(
        address indexed pool,
        address indexed currentPriceProvider,
        address indexed newPriceProvider,
        uint256 executeAfter
    );
    event PoolPriceProviderUpdated(address indexed pool, address indexed newPriceProvider);

    error WrongPauseLevel(uint8 level);
    error ProviderIsImmutable();
    error ProviderMismatch();
    error NothingPending();
    error TimelockNotOver(uint256 executeAfter);
    error OnlyPendingAdmin();

    function setPoolAdminFees(address pool, uint24 spreadFeeE6, uint24 notionalFeeE8) external onlyPoolAdmin(pool) {
        if (spreadFeeE6 > feeCaps.adminSpreadE6 || notionalFeeE8 > feeCaps.adminNotionalE8) revert FeeAboveCap();
        FeeConfig storage config = poolFeeConfig[pool];
        if (config.adminSpreadFeeE6 != spreadFeeE6) {
            config.adminSpreadFeeE6 = spreadFeeE6;
            emit PoolAdminSpreadFeeUpdated(pool, spreadFeeE6);
        }
        if (config.adminNotionalFeeE8 != notionalFeeE8) {
            config.adminNotionalFeeE8 = notionalFeeE8;
            emit PoolAdminNotionalFeeUpdated(pool, notionalFeeE8);
        }
        _applyFees(pool);
    }

    function setPoolProtocolFee(address pool, uint24 spreadFeeE6, uint24 notionalFeeE8)
        external
        onlyProtocol
        onlyKnown(pool)
    {
        if (spreadFeeE6 > feeCaps.protocolSpreadE6 || notionalFeeE8 > feeCaps.protocolNotionalE8) revert FeeAboveCap();
        FeeConfig storage config = poolFeeConfig[pool];
        if (config.protocolSpreadFeeE6 != spreadFeeE6) {
            config.protocolSpreadFeeE6 = spreadFeeE6;
            emit PoolProtocolSpreadFeeUpdated(pool, spreadFeeE6);
        }
        if (config.protocolNotionalFeeE8 != notionalFeeE8) {
            config.protocolNotionalFeeE8 = notionalFeeE8;
            emit PoolProtocolNotionalFeeUpdated(pool, notionalFeeE8);
        }
        _applyFees(pool);
    }

    function setPoolAdminFeeDestination(address pool, address destination) external onlyPoolAdmin(pool) {
        if (destination == address(0)) revert ZeroAddress();
        poolAdminFeeDestination[pool] = destination;
        emit PoolAdminFeeDestinationUpdated(pool, destination);
    }

    function pausePool(address pool) external onlyPoolAdmin(pool) {
        _movePause(pool, 0, 0, 1);
    }

    function unpausePool(address pool) external onlyPoolAdmin(pool) {
        _movePause(pool, 1, 1, 0);
    }

    function protocolPausePool(address pool) external onlyKnown(pool) {
        if (!_mayPause(msg.sender)) revert OnlyProtocol();
        _movePause(pool, 0, 1, 2);
    }

    function protocolUnpausePool(address pool) external onlyKnown(pool) {
        if (!_mayPause(msg.sender)) revert OnlyProtocol();
        _movePause(pool, 2, 2, 1);
    }

    function proposePoolPriceProvider(address pool, address newPriceProvider) external onlyPoolAdmin(pool) {
        if (priceProviderTimelock[pool] == type(uint256).max) revert ProviderIsImmutable();
        PoolImmutables memory fixedPart = IPool(pool).getImmutables();
        _checkProvider(newPriceProvider, fixedPart.token0, fixedPart.token1);
        uint256 executeAfter = block.timestamp + priceProviderTimelock[pool];
        pendingPriceProvider[pool] = newPriceProvider;
        pendingPriceProviderExecuteAfter[pool] = executeAfter;
        address current = address(uint160(uint256(IPool(pool).extsload(bytes32(uint256(3))))));
        emit PoolPriceProviderChangeProposed(pool, current, newPriceProvider, executeAfter);
    }

    function executePoolPriceProviderUpdate(address pool) external onlyPoolAdmin(pool) {
        address next = pendingPriceProvider[pool];
        if (next == address(0)) revert NothingPending();
        uint256 executeAfter = pendingPriceProviderExecuteAfter[pool];
        if (block.timestamp < executeAfter) revert TimelockNotOver(executeAfter);
        delete pendingPriceProvider[pool];
        delete pendingPriceProviderExecuteAfter[pool];
        IPoolAdministration(pool).setPriceProvider(next);
        emit PoolPriceProviderUpdated(pool, next);
    }

    function proposePoolAdminTransfer(address pool, address newAdmin) external onlyPoolAdmin(pool) {
        if (newAdmin == address(0)) revert ZeroAddress();
        pendingPoolAdmin[pool] = newAdmin;
        emit PoolAdminTransferProposed(pool, msg.sender, newAdmin);
    }

    function acceptPoolAdmin(address pool) external onlyKnown(pool) {
        if (msg.sender != pendingPoolAdmin[pool]) revert OnlyPendingAdmin();
        address previous = poolAdmin[pool];
        delete pendingPoolAdmin[pool];
        poolAdmin[pool] = msg.sender;
        emit PoolAdminTransferred(pool, previous, msg.sender);
    }

    function cancelPoolAdminTransfer(address pool) external onlyPoolAdmin(pool) {
        address pending = pendingPoolAdmin[pool];
        if (pending == address(0)) revert NothingPending();
        delete pendingPoolAdmin[pool];
        emit PoolAdminTransferCancelled(pool, pending);
    }

    /// Anyone may have a pool's fees paid out to those who own them.
    function collectPoolFees(address pool) external onlyKnown(pool) {
        FeeConfig memory config = poolFeeConfig[pool];
        IPoolAdministration(pool).collectFees(
            FeeSplit(
                config.protocolSpreadFeeE6,
                config.adminSpreadFeeE6,
                config.protocolNotionalFeeE8,
                config.adminNotionalFeeE8,
                _protocolDestination(),
                poolAdminFeeDestination[pool]
            )
        );
    }

    /// Who may pause and unpause for the protocol.
    function _mayPause(address account) internal view virtual returns (bool) {
        return account == protocolOwner;
    }

    /// Where the protocol's part of collected fees goes.
    function _protocolDestination() internal view virtual returns (address) {
        return address(this);
    }

    function _checkProvider(address provider, address token0, address token1) internal view {
        if (IPriceProvider(provider).token0() != token0 || IPriceProvider(provider).token1() != token1) {
            revert ProviderMismatch();
        }
    }

    function _applyFees(address pool) private {
        FeeConfig memory config = poolFeeConfig[pool];
        IPoolAdministration(pool).setFees(
            config.protocolSpreadFeeE6 + config.adminSpreadFeeE6,
            config.protocolNotionalFeeE8 + config.adminNotionalFeeE8
        );
    }

    function _movePause(address pool, uint8 lowest, uint8 highest, uint8 next) private {
        uint8 level = uint8(uint256(IPool(pool).extsload(bytes32(0))));
        if (level < lowest || level > highest) revert WrongPauseLevel(level);
        IPoolAdministration(pool).setPauseLevel(next);
    }
}
