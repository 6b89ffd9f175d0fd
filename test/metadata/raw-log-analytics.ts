import { type Address, decodeEventLog, type Hex, type Log, type PublicClient, parseAbi, size } from 'viem';
import { flatPoolAbi } from '../../devnet/protocol-abi.ts';

/** A pool's window counted from its raw logs, event by event, with nothing of the indexer or the listing. */
export type RawCount = {
  swapTx: Set<Hex>;
  adds: number;
  removes: number;
  transfers: number;
  volume: [bigint, bigint];
  swapIn: [bigint, bigint];
  inflow: [bigint, bigint];
  outflow: [bigint, bigint];
  lpFeeScaled: [bigint, bigint];
  feeScaled: [bigint, bigint];
};

export type PoolShape = { readonly multipliers: readonly [bigint, bigint] };

const slotAbi = parseAbi(['function extsload(bytes32 slot) view returns (bytes32)']);

export function emptyCount(): RawCount {
  const zero = (): [bigint, bigint] => [0n, 0n];
  const amounts = {
    volume: zero(),
    swapIn: zero(),
    inflow: zero(),
    outflow: zero(),
    lpFeeScaled: zero(),
    feeScaled: zero(),
  };
  return { swapTx: new Set(), adds: 0, removes: 0, transfers: 0, ...amounts };
}

/** Counts the logs of one pool that lie in a window, in the order of the chain. */
export async function countLogs(
  client: PublicClient,
  pool: Address,
  shape: PoolShape,
  logs: readonly Log<bigint, number, false>[],
): Promise<RawCount> {
  const count = emptyCount();
  let bins: { in0: bigint; out0: bigint; in1: bigint; out1: bigint; lp: bigint } = {
    in0: 0n,
    out0: 0n,
    in1: 0n,
    out1: 0n,
    lp: 0n,
  };
  for (const log of logs) {
    const event = tryDecode(log);
    if (event?.eventName === 'BinSwapped') {
      const { delta0Scaled: d0, delta1Scaled: d1 } = event.args.delta;
      bins = {
        in0: bins.in0 + (d0 > 0n ? d0 : 0n),
        out0: bins.out0 + (d0 < 0n ? -d0 : 0n),
        in1: bins.in1 + (d1 > 0n ? d1 : 0n),
        out1: bins.out1 + (d1 < 0n ? -d1 : 0n),
        lp: bins.lp + event.args.lpFeeAmount,
      };
    } else if (event?.eventName === 'Swap') {
      await countSwap(count, client, pool, log, event.args, bins);
      bins = { in0: 0n, out0: 0n, in1: 0n, out1: 0n, lp: 0n };
    } else if (event?.eventName === 'LiquidityAdded' || event?.eventName === 'LiquidityRemoved') {
      const added = event.eventName === 'LiquidityAdded';
      count[added ? 'adds' : 'removes'] += 1;
      for (const side of [0, 1] as const) {
        const deltas = event.args.binBalanceDeltas.map((d) => (side === 0 ? d.delta0Scaled : d.delta1Scaled));
        const sum = deltas.reduce((total, delta) => total + delta, 0n);
        const magnitude = sum < 0n ? -sum : sum;
        const exact = magnitude / shape.multipliers[side];
        const raw = added && magnitude % shape.multipliers[side] !== 0n ? exact + 1n : exact;
        count[added ? 'inflow' : 'outflow'][side] += raw;
        if (raw !== 0n) count.transfers += 1;
      }
    } else if (event?.eventName === 'ProtocolFeesCollected') {
      const a = event.args;
      count.outflow[0] += a.amount0ToProtocol + a.amount0ToAdmin;
      count.outflow[1] += a.amount1ToProtocol + a.amount1ToAdmin;
      for (const amount of Object.values(a)) if (amount > 0n) count.transfers += 1;
    }
  }
  return count;
}

type SwapArgs = { exactInput: boolean; amount0Delta: bigint; amount1Delta: bigint; protocolFeeAmount: bigint };

async function countSwap(
  count: RawCount,
  client: PublicClient,
  pool: Address,
  log: Log<bigint, number, false>,
  { exactInput, amount0Delta, amount1Delta, protocolFeeAmount }: SwapArgs,
  bins: { in0: bigint; out0: bigint; in1: bigint; out1: bigint; lp: bigint },
): Promise<void> {
  count.swapTx.add(log.transactionHash);
  for (const [side, delta] of [amount0Delta, amount1Delta].entries() as Iterable<[0 | 1, bigint]>) {
    const magnitude = delta < 0n ? -delta : delta;
    if (magnitude > 0n) count.transfers += 1;
    count.volume[side] += magnitude;
    if (delta > 0n) count.swapIn[side] += delta;
    count[delta > 0n ? 'inflow' : 'outflow'][side] += magnitude;
  }
  const input: 0 | 1 = bins.in0 + bins.out1 > 0n ? 0 : 1;
  count.lpFeeScaled[input] += bins.lp;
  count.feeScaled[input] += bins.lp + protocolFeeAmount;
  const notionalE8 = await notionalFeeAt(client, pool, log.blockNumber);
  if (exactInput)
    count.feeScaled[input === 0 ? 1 : 0] += ((input === 0 ? bins.out1 : bins.out0) * notionalE8) / 100_000_000n;
  else count.feeScaled[input] += (((input === 0 ? bins.in0 : bins.in1) - bins.lp) * notionalE8) / 100_000_000n;
}

/** The fee that a swap of this block paid: the pool's own slot 0 as of the block before, then of the block itself. */
async function notionalFeeAt(client: PublicClient, pool: Address, blockNumber: bigint): Promise<bigint> {
  const slot: Hex = `0x${'0'.repeat(64)}`;
  const word = await client.readContract({
    address: pool,
    abi: slotAbi,
    functionName: 'extsload',
    args: [slot],
    blockNumber,
  });
  return (BigInt(word) >> 168n) & 0xffffffn;
}

/** LP-owned balances from storage slot 1, raw units rounded down. */
export async function lpBalancesRaw(client: PublicClient, pool: Address, shape: PoolShape): Promise<[bigint, bigint]> {
  const slot: Hex = `0x${'1'.padStart(64, '0')}`;
  const word = BigInt(
    await client.readContract({ address: pool, abi: slotAbi, functionName: 'extsload', args: [slot] }),
  );
  return [(word & (2n ** 128n - 1n)) / shape.multipliers[0], (word >> 128n) / shape.multipliers[1]];
}

function tryDecode(log: Log) {
  if (log.topics.length === 0 || size(log.data) === 0) return null;
  try {
    return decodeEventLog({ abi: flatPoolAbi, topics: log.topics, data: log.data });
  } catch {
    return null;
  }
}

/** Timestamps of all blocks, by number. */
export async function readBlockTimes(client: PublicClient): Promise<number[]> {
  const head = Number(await client.getBlockNumber());
  const blocks = await Promise.all(
    Array.from({ length: head + 1 }, (_, number) => client.getBlock({ blockNumber: BigInt(number) })),
  );
  return blocks.map(({ timestamp }) => Number(timestamp));
}
