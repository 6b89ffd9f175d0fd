// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {ExtensionOrders, PoolImmutables, PoolStart} from "../interfaces/PoolTypes.sol";
import {IERC20} from "../interfaces/IERC20.sol";
import {IPoolDeployer} from "../interfaces/IPoolFactory.sol";
import {IPoolExtension} from "../interfaces/IPoolExtension.sol";
import {FactoryPoolAdministration} from "./FactoryPoolAdministration.sol";
import {FactoryRegistry} from "./FactoryRegistry.sol";
import {BinData} from "../libraries/BinData.sol";
import {SafeTransfer} from "../libraries/SafeTransfer.sol";

struct PoolParameters {
    address token0;
    address token1;
    address priceProvider;
    address[] extensions;
    ExtensionOrders extensionOrders;
    bytes[] extensionInitData;
    uint256 priceProviderTimelock;
    address admin;
    uint256 initialAmount0PerShareE18;
    uint256 initialAmount1PerShareE18;
    uint256 minimalMintableLiquidity;
    uint24 adminSpreadFeeE6;
    uint24 adminNotionalFeeE8;
    address adminFeeDestination;
    int24 curBinDistFromProvidedPriceE6;
    uint256[] nonNegativeBinDataArray;
    uint256[] negativeBinDataArray;
    bytes32 salt;
}

/// The unindexed arguments of PoolCreated.
struct UnindexedPoolCreated {
    uint256 poolIdx;
    address factory;
    address admin;
    address priceProvider;
    address[] extensions;
    ExtensionOrders extensionOrders;
    uint256 priceProviderTimelock;
    uint256 initialAmount0PerShareE18;
    uint256 initialAmount1PerShareE18;
    uint256 minimalMintableLiquidity;
    uint24 spreadProtocolFeeE6;
    uint24 protocolNotionalFeeE8;
    uint24 adminSpreadFeeE6;
    uint24 adminNotionalFeeE8;
    address adminFeeDestination;
    int24 curBinDistFromProvidedPriceE6;
    uint256[] nonNegativeBinDataArray;
    uint256[] negativeBinDataArray;
}

/// Creates pools of either generation and sets the protocol's defaults.
abstract contract FactoryPoolCreation is FactoryPoolAdministration {
    event PoolCreated(
        address indexed poolAddress,
        address indexed token0,
        address indexed token1,
        uint256 poolIdx,
        address factory,
        address admin,
        address priceProvider,
        address[] extensions,
        ExtensionOrders extensionOrders,
        uint256 priceProviderTimelock,
        uint256 initialAmount0PerShareE18,
        uint256 initialAmount1PerShareE18,
        uint256 minimalMintableLiquidity,
        uint24 spreadProtocolFeeE6,
        uint24 protocolNotionalFeeE8,
        uint24 adminSpreadFeeE6,
        uint24 adminNotionalFeeE8,
        address adminFeeDestination,
        int24 curBinDistFromProvidedPriceE6,
        uint256[] nonNegativeBinDataArray,
        uint256[] negativeBinDataArray
    );
    event SpreadProtocolFeeDefaultUpdated(uint24 oldFeeE6, uint24 newFeeE6);
    event ProtocolNotionalFeeDefaultUpdated(uint24 oldFeeE8, uint24 newFeeE8);
    event FeeCapsUpdated(
        uint24 maxProtocolSpreadFeeE6,
        uint24 maxAdminSpreadFeeE6,
        uint24 maxProtocolNotionalFeeE8,
        uint24 maxAdminNotionalFeeE8
    );
    event PoolDeployerSet(address indexed poolDeployer);
    event TokensCollected(address indexed token, address indexed to, uint256 amount);

    error InvalidParameters();

    constructor() FactoryRegistry(msg.sender) {
        setFeeCaps(FeeCaps(500_000, 500_000, 1_000_000, 1_000_000));
    }

    function setPoolDeployer(address deployer) external onlyProtocol {
        poolDeployer = deployer;
        emit PoolDeployerSet(deployer);
    }

    function setFeeCaps(FeeCaps memory caps) public onlyProtocol {
        feeCaps = caps;
        emit FeeCapsUpdated(
            caps.protocolSpreadE6, caps.adminSpreadE6, caps.protocolNotionalE8, caps.adminNotionalE8
        );
    }

    function setFeeDefaults(uint24 spreadFeeE6, uint24 notionalFeeE8) external onlyProtocol {
        if (spreadFeeE6 > feeCaps.protocolSpreadE6 || notionalFeeE8 > feeCaps.protocolNotionalE8) revert FeeAboveCap();
        emit SpreadProtocolFeeDefaultUpdated(spreadProtocolFeeDefaultE6, spreadFeeE6);
        emit ProtocolNotionalFeeDefaultUpdated(protocolNotionalFeeDefaultE8, notionalFeeE8);
        spreadProtocolFeeDefaultE6 = spreadFeeE6;
        protocolNotionalFeeDefaultE8 = notionalFeeE8;
    }

    /// Takes the protocol's collected fees out.
    function collectTokens(address token, address to, uint256 amount) external onlyProtocol {
        SafeTransfer.pay(token, to, amount);
        emit TokensCollected(token, to, amount);
    }

    function createPool(PoolParameters calldata params) external returns (address pool) {
        return _create(params, 0);
    }

    /// Most bins that a pool has on either side of the start of bin 0.
    function _mostBins() internal pure virtual returns (uint256);

    /// Lowest and highest distance that a bin's edge may have, millionths.
    function _distanceLimits() internal view virtual returns (int256 lowest, int256 highest);

    /// Scaled amount of new shares for what a pool's creator says.
    function _initialScaled(uint256 amountPerShareE18, uint256 multiplier) internal pure virtual returns (uint256);

    function _create(PoolParameters calldata params, uint16 bidAskRefAsymmetryX8) internal returns (address pool) {
        _validate(params);
        FeeConfig memory fees = FeeConfig(
            spreadProtocolFeeDefaultE6, params.adminSpreadFeeE6, protocolNotionalFeeDefaultE8, params.adminNotionalFeeE8
        );
        pool = IPoolDeployer(poolDeployer).deploy(
            _immutables(params), _start(params, fees, bidAskRefAsymmetryX8), params.salt
        );
        uint256 index = nextPoolIdx++;
        poolToIdx[pool] = index;
        idxToPool[index] = pool;
        poolFeeConfig[pool] = fees;
        poolAdmin[pool] = params.admin;
        poolAdminFeeDestination[pool] = params.adminFeeDestination;
        priceProviderTimelock[pool] = params.priceProviderTimelock;
        _announce(pool, index, params, fees);
        for (uint256 i = 0; i < params.extensions.length; i++) {
            if (params.extensionInitData[i].length == 0) continue;
            IPoolExtension(params.extensions[i]).initialize(pool, params.extensionInitData[i]);
        }
    }

    function _validate(PoolParameters calldata params) private view {
        if (params.admin == address(0) || params.adminFeeDestination == address(0)) revert ZeroAddress();
        if (params.token0 == params.token1 || params.extensions.length > 7) revert InvalidParameters();
        if (params.extensions.length != params.extensionInitData.length) revert InvalidParameters();
        if (params.initialAmount0PerShareE18 == 0 || params.initialAmount1PerShareE18 == 0) revert InvalidParameters();
        if (params.adminSpreadFeeE6 > feeCaps.adminSpreadE6) revert FeeAboveCap();
        if (params.adminNotionalFeeE8 > feeCaps.adminNotionalE8) revert FeeAboveCap();
        _checkProvider(params.priceProvider, params.token0, params.token1);
        (uint256 up, uint256 lengthUp) = BinData.measure(params.nonNegativeBinDataArray);
        (uint256 down, uint256 lengthDown) = BinData.measure(params.negativeBinDataArray);
        if (up == 0 || up > _mostBins() || down > _mostBins()) revert InvalidParameters();
        int256 distance = params.curBinDistFromProvidedPriceE6;
        (int256 lowest, int256 highest) = _distanceLimits();
        if (distance - int256(lengthDown) < lowest) revert InvalidParameters();
        if (distance + int256(lengthUp) > highest) revert InvalidParameters();
    }

    function _start(PoolParameters calldata params, FeeConfig memory fees, uint16 bidAskRefAsymmetryX8)
        private
        pure
        returns (PoolStart memory start)
    {
        start.mutablePriceProvider =
            params.priceProviderTimelock == type(uint256).max ? address(0) : params.priceProvider;
        start.curBinDistFromProvidedPriceE6 = params.curBinDistFromProvidedPriceE6;
        start.spreadFeeE6 = fees.protocolSpreadFeeE6 + fees.adminSpreadFeeE6;
        start.notionalFeeE8 = fees.protocolNotionalFeeE8 + fees.adminNotionalFeeE8;
        start.bidAskRefAsymmetryX8 = bidAskRefAsymmetryX8;
        start.nonNegativeBinDataArray = params.nonNegativeBinDataArray;
        start.negativeBinDataArray = params.negativeBinDataArray;
    }

    /// Internal decimals are the larger of 18 and both tokens', so that scaled amounts of both tokens compare.
    function _immutables(PoolParameters calldata params) private view returns (PoolImmutables memory fixedPart) {
        (uint8 decimals0, uint8 decimals1) = (IERC20(params.token0).decimals(), IERC20(params.token1).decimals());
        uint8 larger = decimals0 > decimals1 ? decimals0 : decimals1;
        uint8 internalDecimals = larger > 18 ? larger : 18;
        fixedPart.factory = address(this);
        fixedPart.token0 = params.token0;
        fixedPart.token1 = params.token1;
        fixedPart.token0ScaleMultiplier = 10 ** (internalDecimals - decimals0);
        fixedPart.token1ScaleMultiplier = 10 ** (internalDecimals - decimals1);
        fixedPart.initialScaledToken0PerShareE18 =
            _initialScaled(params.initialAmount0PerShareE18, fixedPart.token0ScaleMultiplier);
        fixedPart.initialScaledToken1PerShareE18 =
            _initialScaled(params.initialAmount1PerShareE18, fixedPart.token1ScaleMultiplier);
        fixedPart.minimalMintableLiquidity = params.minimalMintableLiquidity;
        if (params.priceProviderTimelock == type(uint256).max) {
            fixedPart.immutablePriceProvider = params.priceProvider;
        }
        (uint256 up,) = BinData.measure(params.nonNegativeBinDataArray);
        (uint256 down,) = BinData.measure(params.negativeBinDataArray);
        fixedPart.highestBin = int256(up) - 1;
        fixedPart.lowestBin = -int256(down);
        _attachExtensions(fixedPart, params);
    }

    function _attachExtensions(PoolImmutables memory fixedPart, PoolParameters calldata params) private pure {
        fixedPart.extension1 = _extension(params, 0);
        fixedPart.extension2 = _extension(params, 1);
        fixedPart.extension3 = _extension(params, 2);
        fixedPart.extension4 = _extension(params, 3);
        fixedPart.extension5 = _extension(params, 4);
        fixedPart.extension6 = _extension(params, 5);
        fixedPart.extension7 = _extension(params, 6);
        ExtensionOrders calldata orders = params.extensionOrders;
        fixedPart.beforeAddLiquidityOrder = orders.beforeAddLiquidity;
        fixedPart.afterAddLiquidityOrder = orders.afterAddLiquidity;
        fixedPart.beforeRemoveLiquidityOrder = orders.beforeRemoveLiquidity;
        fixedPart.afterRemoveLiquidityOrder = orders.afterRemoveLiquidity;
        fixedPart.beforeSwapOrder = orders.beforeSwap;
        fixedPart.afterSwapOrder = orders.afterSwap;
    }

    function _extension(PoolParameters calldata params, uint256 i) private pure returns (address) {
        return i < params.extensions.length ? params.extensions[i] : address(0);
    }

    /// Emits PoolCreated. The compiler's stack has no room for that many arguments: the unindexed ones are encoded as
    /// one struct, whose encoding is theirs after the leading offset word.
    function _announce(address pool, uint256 index, PoolParameters calldata params, FeeConfig memory fees) private {
        bytes memory data = abi.encode(_unindexed(index, params, fees));
        bytes32 topic = PoolCreated.selector;
        (address token0, address token1) = (params.token0, params.token1);
        assembly ("memory-safe") {
            log4(add(data, 64), sub(mload(data), 32), topic, pool, token0, token1)
        }
    }

    function _unindexed(uint256 index, PoolParameters calldata params, FeeConfig memory fees)
        private
        view
        returns (UnindexedPoolCreated memory args)
    {
        args.poolIdx = index;
        args.factory = address(this);
        args.admin = params.admin;
        args.priceProvider = params.priceProvider;
        args.extensions = params.extensions;
        args.extensionOrders = params.extensionOrders;
        args.priceProviderTimelock = params.priceProviderTimelock;
        args.initialAmount0PerShareE18 = params.initialAmount0PerShareE18;
        args.initialAmount1PerShareE18 = params.initialAmount1PerShareE18;
        args.minimalMintableLiquidity = params.minimalMintableLiquidity;
        args.spreadProtocolFeeE6 = fees.protocolSpreadFeeE6;
        args.protocolNotionalFeeE8 = fees.protocolNotionalFeeE8;
        args.adminSpreadFeeE6 = fees.adminSpreadFeeE6;
        args.adminNotionalFeeE8 = fees.adminNotionalFeeE8;
        args.adminFeeDestination = params.adminFeeDestination;
        args.curBinDistFromProvidedPriceE6 = params.curBinDistFromProvidedPriceE6;
        args.nonNegativeBinDataArray = params.nonNegativeBinDataArray;
        args.negativeBinDataArray = params.negativeBinDataArray;
    }
}
