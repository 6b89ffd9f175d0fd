import { bigint, boolean, hex, int8, integer, onchainTable, text } from 'ponder';
import { chainId, keyOf, stamp } from './columns.ts';

/** Columns that name a pool at an extension contract (`address`), which serves many pools. */
const extensionPool = () => ({
  chainId: chainId(),
  address: hex().notNull(),
  pool: hex().notNull(),
});

/**
 * Settings of a pool at a StopLoss contract (`address`). A setting is null until an event sets it. The decay is in the
 * unit of the contract's layout: 1/10^8, or 1/10^18 for packed pools.
 */
export const stopLoss = onchainTable(
  'stop_loss',
  {
    ...extensionPool(),
    drawdownE6: bigint('drawdown_e6'),
    decayPerSecondE8: bigint('decay_per_second_e8'),
    decayPerSecondE18: bigint('decay_per_second_e18'),
    timelockSecs: bigint(),
    pendingDrawdownE6: bigint('pending_drawdown_e6'),
    pendingDrawdownExecuteAfter: bigint(),
    pendingDecayPerSecondE8: bigint('pending_decay_per_second_e8'),
    pendingDecayPerSecondE18: bigint('pending_decay_per_second_e18'),
    pendingDecayExecuteAfter: bigint(),
    pendingTimelockSecs: bigint(),
    pendingTimelockExecuteAfter: bigint(),
    ...stamp(),
  },
  keyOf('chainId', 'address', 'pool'),
);

/** Highest value per share that a StopLoss saw in a bin, in either token's terms. */
export const stopLossWatermark = onchainTable(
  'stop_loss_watermark',
  {
    ...extensionPool(),
    binIdx: integer().notNull(),
    watermarkToken0: bigint().notNull(),
    watermarkToken1: bigint().notNull(),
    ...stamp(),
  },
  keyOf('chainId', 'address', 'pool', 'binIdx'),
);

/** Settings of a pool at a PriceVelocityGuard (`address`). A setting is null until an event sets it. */
export const priceVelocity = onchainTable(
  'price_velocity',
  {
    ...extensionPool(),
    maxChangePerBlockE18: bigint('max_change_per_block_e18'),
    lastMidPriceX64: bigint('last_mid_price_x64'),
    lastMidPriceBlock: int8({ mode: 'number' }),
    ...stamp(),
  },
  keyOf('chainId', 'address', 'pool'),
);

/** Settings of a pool at a DepositAllowlist or SwapAllowlist (`address`). */
export const allowlist = onchainTable(
  'allowlist',
  {
    ...extensionPool(),
    /** `deposit` or `swap`. */
    action: text().notNull(),
    allowAll: boolean().notNull(),
    ...stamp(),
  },
  keyOf('chainId', 'address', 'pool'),
);

export const allowlistEntry = onchainTable(
  'allowlist_entry',
  {
    ...extensionPool(),
    account: hex().notNull(),
    /** `deposit` or `swap`. */
    action: text().notNull(),
    allowed: boolean().notNull(),
    ...stamp(),
  },
  keyOf('chainId', 'address', 'pool', 'account'),
);
