// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IPool} from "../interfaces/IPool.sol";
import {IPoolFactory} from "../interfaces/IPoolFactory.sol";
import {IPriceProvider} from "../interfaces/IPriceProvider.sol";
import {IQuoteProvider} from "../packed/PackedTypes.sol";
import {PriceRegistry} from "./PriceRegistry.sol";

/// Quotes a feed of the registry in the block that its price is for, and only there. Pools of both layouts can use it; it
/// answers a pool of its factory that reads its price in the same call.
contract RegistryProvider is IPriceProvider, IQuoteProvider {
    error FeedStalled();
    error NotInSwap();

    address public immutable override(IPriceProvider, IQuoteProvider) token0;
    address public immutable override(IPriceProvider, IQuoteProvider) token1;
    IPoolFactory public immutable poolFactory;
    PriceRegistry public immutable registry;
    bytes32 public immutable feedId;

    constructor(address token0_, address token1_, address poolFactory_, address registry_, bytes32 feedId_) {
        (token0, token1) = (token0_, token1_);
        poolFactory = IPoolFactory(poolFactory_);
        registry = PriceRegistry(registry_);
        feedId = feedId_;
    }

    function getBidAndAskPrice() external view returns (uint128 bidX64, uint128 askX64) {
        return _fresh();
    }

    /// The reference is the mid, rounded down.
    function getQuote() external view returns (uint128 bidX64, uint128 askX64, uint128 referenceX64) {
        (bidX64, askX64) = _fresh();
        referenceX64 = uint128((uint256(bidX64) + askX64) / 2);
    }

    function _fresh() private view returns (uint128 bidX64, uint128 askX64) {
        if (!poolFactory.isPool(msg.sender) || IPool(msg.sender).inSwap() != address(this)) revert NotInSwap();
        uint256 stamp;
        (stamp, bidX64, askX64,) = registry.feeds(feedId);
        if (stamp != block.timestamp) revert FeedStalled();
    }
}
