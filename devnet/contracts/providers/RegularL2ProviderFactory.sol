// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IOracle} from "../interfaces/IPriceProvider.sol";
import {RegularParameters, RegularProvider} from "./RegularProvider.sol";

/// As the regular factory, for chains whose clock may lag behind the feed's.
contract RegularL2ProviderFactory {
    event ProviderDeployed(
        address indexed provider,
        address indexed creator,
        bytes32 indexed feedId,
        address oracle,
        address base,
        address quote,
        int256 marginStep,
        uint256 maxTimeDelta,
        uint256 futureTolerance
    );

    /// @param futureTolerance seconds by which a post may be ahead of the chain's clock
    function deploy(RegularParameters calldata p, uint256 futureTolerance) external returns (address provider) {
        provider = address(new RegularProvider(p, msg.sender));
        emit ProviderDeployed(
            provider, msg.sender, p.feedId, p.oracle, p.base, p.quote, p.marginStep, p.maxTimeDelta, futureTolerance
        );
        IOracle(p.oracle).register(p.feedId, provider);
    }
}
