// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {ExtensionBase} from "./ExtensionBase.sol";
import {FlatStopLoss} from "./StopLoss.sol";
import {StopLossAtBidAsk} from "./StopLossAtBidAsk.sol";

/// The release for flat pools that values bins at the provider's own prices.
contract StopLossBidAsk is FlatStopLoss, StopLossAtBidAsk {
    constructor(address factory_) ExtensionBase(factory_) {}
}
