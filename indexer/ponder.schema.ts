// biome-ignore-all lint/performance/noBarrelFile: Ponder takes all tables from one module.
// Ponder forgets cached tables in this order when memory is short: what every swap reads comes after the events.
export { poolActivity } from './schema/activity.ts';
export { allowlist, allowlistEntry, priceVelocity, stopLoss, stopLossWatermark } from './schema/extensions.ts';
export { factory, factoryCollection } from './schema/factories.ts';
export { feeCollection, liquidityChange, liquidityChangeBin, swap } from './schema/pool-events.ts';
export { pool, poolExtension, poolState, token } from './schema/pools.ts';
export { priceProvider, priceProviderSetting } from './schema/providers.ts';
