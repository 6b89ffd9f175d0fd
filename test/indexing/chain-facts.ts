import { type Address, getAbiItem, type PublicClient } from 'viem';
import { priceVelocityGuardAbi, providerAbi, stopLossAbi } from '../../devnet/protocol-abi.ts';
import { flatPoolEvents } from '../../protocol/layouts/flat/pool-abi.ts';

/** What a StopLoss says of a pool, as a row of `stop_loss`; null when it knows nothing of it. */
export async function readStopLoss(client: PublicClient, stopLoss: Address, pool: Address) {
  const [drawdownE6, decayPerSecondE8, timelock, initialized] = await client.readContract({
    address: stopLoss,
    abi: stopLossAbi,
    functionName: 'oracleStopLossConfig',
    args: [pool],
  });
  if (!initialized) return null;
  return {
    drawdown_e6: BigInt(drawdownE6),
    decay_per_second_e8: BigInt(decayPerSecondE8),
    timelock_secs: BigInt(timelock),
  };
}

export async function readWatermark(client: PublicClient, stopLoss: Address, pool: Address, binIdx: number) {
  const [token0, token1] = await client.readContract({
    address: stopLoss,
    abi: stopLossAbi,
    functionName: 'highWatermarks',
    args: [pool, binIdx],
  });
  return { watermark_token0: token0, watermark_token1: token1 };
}

/** What a PriceVelocityGuard says of a pool, as a row of `price_velocity`; null when it knows nothing of it. */
export async function readPriceVelocity(client: PublicClient, guard: Address, pool: Address) {
  const [lastMidPriceX64, lastUpdateBlock, maxChangePerBlockE18] = await client.readContract({
    address: guard,
    abi: priceVelocityGuardAbi,
    functionName: 'priceVelocityState',
    args: [pool],
  });
  if (maxChangePerBlockE18 === 0n) return null;
  const swapped = lastMidPriceX64 > 0n;
  return {
    max_change_per_block_e18: maxChangePerBlockE18,
    last_mid_price_x64: swapped ? lastMidPriceX64 : null,
    last_mid_price_block: swapped ? Number(lastUpdateBlock) : null,
  };
}

/** What a provider says of itself, as columns of `price_provider` and `price_provider_setting`. */
export async function readProvider(client: PublicClient, address: Address, kind: string) {
  const at = { address, abi: providerAbi } as const;
  const common = {
    oracle: (await client.readContract({ ...at, functionName: 'offchainOracle' })).toLowerCase(),
    margin_step: await client.readContract({ ...at, functionName: 'marginStep' }),
    confidence_param: await client.readContract({ ...at, functionName: 'confidenceParam' }),
  };
  if (kind !== 'anchored') {
    return {
      ...common,
      base_feed_id: await client.readContract({ ...at, functionName: 'offchainFeedId' }),
      max_time_delta_secs: await client.readContract({ ...at, functionName: 'MAX_TIME_DELTA' }),
    };
  }
  const source = await client.readContract({ ...at, functionName: 'source' });
  return {
    ...common,
    base_feed_id: await client.readContract({ ...at, functionName: 'baseFeedId' }),
    quote_feed_id: await client.readContract({ ...at, functionName: 'quoteFeedId' }),
    min_margin: await client.readContract({ ...at, functionName: 'minMargin' }),
    max_ref_staleness_secs: await client.readContract({ ...at, functionName: 'MAX_REF_STALENESS' }),
    max_spread_bps: await client.readContract({ ...at, functionName: 'MAX_SPREAD_BPS' }),
    mutable_params: await client.readContract({ ...at, functionName: 'MUTABLE_PARAMS' }),
    source: BigInt(source) === 0n ? null : source.toLowerCase(),
  };
}

/**
 * The bins of all swaps of these pools, as the chain logged them and as rows of `bin_swap`, in the order of their logs.
 */
export async function readBinSwaps(client: PublicClient, pools: readonly Address[]) {
  const event = getAbiItem({ abi: flatPoolEvents, name: 'BinSwapped' });
  const logs = await client.getLogs({ address: [...pools], event, fromBlock: 0n, strict: true });
  return logs.map(({ address, blockNumber, logIndex, transactionHash, args }) => ({
    pool: address.toLowerCase(),
    block_number: Number(blockNumber),
    log_index: logIndex,
    transaction_hash: transactionHash,
    bin_idx: Number(args.binIdx),
    delta0_scaled: args.delta.delta0Scaled,
    delta1_scaled: args.delta.delta1Scaled,
    lp_fee_scaled: args.lpFeeAmount,
  }));
}
