// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IOracle} from "../interfaces/IPriceProvider.sol";
import {AnchoredParameters, AnchoredProvider} from "./AnchoredProvider.sol";

contract AnchoredProviderFactory {
    event ProviderDeployed(
        address indexed provider,
        address indexed creator,
        bytes32 indexed baseFeedId,
        bytes32 quoteFeedId,
        bytes32 classId,
        address base,
        address quote,
        uint256 minMargin,
        uint256 maxRefStaleness,
        uint16 maxSpreadBps,
        bool mutableParams,
        int256 marginStep,
        address oracle
    );
    event SourceSet(address indexed provider, address indexed source);

    error OnlyCreator();

    function deploy(AnchoredParameters calldata p) external returns (address provider) {
        provider = address(new AnchoredProvider(p, msg.sender));
        emit ProviderDeployed(
            provider,
            msg.sender,
            p.baseFeedId,
            p.quoteFeedId,
            p.classId,
            p.base,
            p.quote,
            p.minMargin,
            p.maxRefStaleness,
            p.maxSpreadBps,
            p.mutableParams,
            p.marginStep,
            p.oracle
        );
        IOracle(p.oracle).register(p.baseFeedId, provider);
        if (p.quoteFeedId != 0) IOracle(p.oracle).register(p.quoteFeedId, provider);
    }

    /// The zero source returns to reference mode.
    function setSource(address provider, address source) external {
        if (msg.sender != AnchoredProvider(provider).creator()) revert OnlyCreator();
        AnchoredProvider(provider).setSource(source);
        emit SourceSet(provider, source);
    }
}
