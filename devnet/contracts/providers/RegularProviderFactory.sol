// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IOracle} from "../interfaces/IPriceProvider.sol";
import {RegularParameters, RegularProvider} from "./RegularProvider.sol";

contract RegularProviderFactory {
    event ProviderDeployed(
        address indexed provider,
        address indexed creator,
        bytes32 indexed feedId,
        address oracle,
        address base,
        address quote,
        int256 marginStep,
        uint256 maxTimeDelta
    );

    function deploy(RegularParameters calldata p) external returns (address provider) {
        provider = address(new RegularProvider(p, msg.sender));
        emit ProviderDeployed(
            provider, msg.sender, p.feedId, p.oracle, p.base, p.quote, p.marginStep, p.maxTimeDelta
        );
        IOracle(p.oracle).register(p.feedId, provider);
    }
}
