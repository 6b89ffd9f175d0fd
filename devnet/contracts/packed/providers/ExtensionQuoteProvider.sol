// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {SwapContext, SwapOutcome} from "../../interfaces/PoolTypes.sol";
import {ExtensionBase} from "../../extensions/ExtensionBase.sol";
import {Quote} from "../PackedTypes.sol";
import {QuoteProvider} from "./QuoteProvider.sol";

/// A provider that is also an extension of its pools: it refuses a swap at another price than its own, and counts swaps.
contract ExtensionQuoteProvider is QuoteProvider, ExtensionBase {
    error NotMyQuote();

    mapping(address => uint256) public swapsOf;

    constructor(address token0_, address token1_, address poolFactory_, Quote memory first)
        QuoteProvider(token0_, token1_, poolFactory_, first)
        ExtensionBase(poolFactory_)
    {}

    function beforeSwap(SwapContext calldata context, bytes calldata) external view override {
        Quote memory mine = quote;
        if (
            context.bidPriceX64 != mine.bidX64 || context.askPriceX64 != mine.askX64
                || context.referencePriceX64 != mine.referenceX64
        ) revert NotMyQuote();
    }

    function afterSwap(SwapContext calldata, SwapOutcome calldata, bytes calldata) external override {
        swapsOf[msg.sender] += 1;
    }

    function _initialize(address, bytes calldata) internal override {}
}
