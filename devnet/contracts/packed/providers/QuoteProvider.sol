// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IPool} from "../../interfaces/IPool.sol";
import {IPoolFactory} from "../../interfaces/IPoolFactory.sol";
import {IQuoteProvider, Quote} from "../PackedTypes.sol";

/// Quotes what its owner last set, only to a pool of the factory that is swapping.
contract QuoteProvider is IQuoteProvider {
    error OnlyOwner();
    error NotInSwap();
    error FeedStalled();

    address public immutable token0;
    address public immutable token1;
    address public immutable owner;
    IPoolFactory public immutable poolFactory;
    Quote internal quote;

    constructor(address token0_, address token1_, address poolFactory_, Quote memory first) {
        (token0, token1) = (token0_, token1_);
        owner = msg.sender;
        poolFactory = IPoolFactory(poolFactory_);
        quote = first;
    }

    /// A reference of zero means that there is no price.
    function setQuote(Quote calldata next) external {
        if (msg.sender != owner) revert OnlyOwner();
        quote = next;
    }

    function getQuote() external view returns (uint128, uint128, uint128) {
        if (!_mayRead(msg.sender)) revert NotInSwap();
        if (quote.referenceX64 == 0) revert FeedStalled();
        return (quote.bidX64, quote.askX64, quote.referenceX64);
    }

    function _mayRead(address reader) internal view virtual returns (bool) {
        return poolFactory.isPool(reader) && IPool(reader).inSwap() == address(this);
    }
}

/// Answers address 0 as well: what an `eth_call` without a sender is.
contract OpenQuoteProvider is QuoteProvider {
    constructor(address token0_, address token1_, address poolFactory_, Quote memory first)
        QuoteProvider(token0_, token1_, poolFactory_, first)
    {}

    function _mayRead(address reader) internal view override returns (bool) {
        return reader == address(0) || super._mayRead(reader);
    }
}
