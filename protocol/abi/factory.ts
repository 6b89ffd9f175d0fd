import { parseAbi } from 'viem';

/** Events of PoolFactory. */
export const factoryEvents = parseAbi([
  'struct ExtensionOrders { uint256 beforeAddLiquidity; uint256 afterAddLiquidity; uint256 beforeRemoveLiquidity; uint256 afterRemoveLiquidity; uint256 beforeSwap; uint256 afterSwap; }',
  'event PoolCreated(address indexed poolAddress, address indexed token0, address indexed token1, uint256 poolIdx, address factory, address admin, address priceProvider, address[] extensions, ExtensionOrders extensionOrders, uint256 priceProviderTimelock, uint256 initialAmount0PerShareE18, uint256 initialAmount1PerShareE18, uint256 minimalMintableLiquidity, uint24 spreadProtocolFeeE6, uint24 protocolNotionalFeeE8, uint24 adminSpreadFeeE6, uint24 adminNotionalFeeE8, address adminFeeDestination, int24 curBinDistFromProvidedPriceE6, uint256[] nonNegativeBinDataArray, uint256[] negativeBinDataArray)',
  'event PoolAdminSpreadFeeUpdated(address indexed pool, uint24 newAdminSpreadFeeE6)',
  'event PoolAdminNotionalFeeUpdated(address indexed pool, uint24 newAdminNotionalFeeE8)',
  'event PoolProtocolSpreadFeeUpdated(address indexed pool, uint24 newProtocolSpreadFeeE6)',
  'event PoolProtocolNotionalFeeUpdated(address indexed pool, uint24 newProtocolNotionalFeeE8)',
  'event PoolAdminFeeDestinationUpdated(address indexed pool, address newAdminFeeDestination)',
  'event PoolAdminTransferProposed(address indexed pool, address indexed currentAdmin, address indexed newAdmin)',
  'event PoolAdminTransferCancelled(address indexed pool, address indexed cancelledPendingAdmin)',
  'event PoolAdminTransferred(address indexed pool, address indexed previousAdmin, address indexed newAdmin)',
  'event PoolPriceProviderChangeProposed(address indexed pool, address indexed currentPriceProvider, address indexed newPriceProvider, uint256 executeAfter)',
  'event PoolPriceProviderUpdated(address indexed pool, address indexed newPriceProvider)',
  'event SpreadProtocolFeeDefaultUpdated(uint24 oldFeeE6, uint24 newFeeE6)',
  'event ProtocolNotionalFeeDefaultUpdated(uint24 oldFeeE8, uint24 newFeeE8)',
  'event FeeCapsUpdated(uint24 maxProtocolSpreadFeeE6, uint24 maxAdminSpreadFeeE6, uint24 maxProtocolNotionalFeeE8, uint24 maxAdminNotionalFeeE8)',
  'event PoolDeployerSet(address indexed poolDeployer)',
  'event TokensCollected(address indexed token, address indexed to, uint256 amount)',
]);

/** Functions of PoolFactory that list its pools by number, and those that give a pool's settings. */
export const factoryFunctions = parseAbi([
  'function idxToPool(uint256 poolIdx) view returns (address)',
  'function nextPoolIdx() view returns (uint256)',
  'function poolFeeConfig(address pool) view returns (uint24 protocolSpreadFeeE6, uint24 adminSpreadFeeE6, uint24 protocolNotionalFeeE8, uint24 adminNotionalFeeE8)',
  'function poolAdmin(address pool) view returns (address)',
  'function poolAdminFeeDestination(address pool) view returns (address)',
]);
