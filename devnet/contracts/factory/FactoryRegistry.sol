// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// What the factory knows about pools, and who may do what.
abstract contract FactoryRegistry {
    struct FeeConfig {
        uint24 protocolSpreadFeeE6;
        uint24 adminSpreadFeeE6;
        uint24 protocolNotionalFeeE8;
        uint24 adminNotionalFeeE8;
    }

    struct FeeCaps {
        uint24 protocolSpreadE6;
        uint24 adminSpreadE6;
        uint24 protocolNotionalE8;
        uint24 adminNotionalE8;
    }

    error OnlyProtocol();
    error OnlyPoolAdmin();
    error UnknownPool();
    error FeeAboveCap();
    error ZeroAddress();

    address public immutable protocolOwner;
    address public poolDeployer;
    uint256 public nextPoolIdx = 1;
    FeeCaps public feeCaps;
    uint24 public spreadProtocolFeeDefaultE6;
    uint24 public protocolNotionalFeeDefaultE8;

    mapping(address => uint256) public poolToIdx;
    mapping(uint256 => address) public idxToPool;
    mapping(address => FeeConfig) public poolFeeConfig;
    mapping(address => address) public poolAdmin;
    mapping(address => address) public pendingPoolAdmin;
    mapping(address => address) public poolAdminFeeDestination;
    mapping(address => uint256) public priceProviderTimelock;
    mapping(address => address) public pendingPriceProvider;
    mapping(address => uint256) public pendingPriceProviderExecuteAfter;

    modifier onlyProtocol() {
        if (msg.sender != protocolOwner) revert OnlyProtocol();
        _;
    }

    modifier onlyPoolAdmin(address pool) {
        if (poolToIdx[pool] == 0) revert UnknownPool();
        if (msg.sender != poolAdmin[pool]) revert OnlyPoolAdmin();
        _;
    }

    modifier onlyKnown(address pool) {
        if (poolToIdx[pool] == 0) revert UnknownPool();
        _;
    }

    constructor(address owner) {
        protocolOwner = owner;
    }

    function isPool(address pool) external view returns (bool) {
        return poolToIdx[pool] != 0;
    }
}
