import { type Address, decodeAbiParameters, type Hex, type Log, type PublicClient, toEventSelector } from 'viem';

/** What the raw logs of a packed pool say, read here without the project's decoders. */
export interface PackedLogs {
  /** Columns of `pool_activity` that are known of packed pools, but those of liquidity's raw amounts. */
  readonly activity: Record<string, bigint | number>;
  readonly swaps: readonly Record<string, unknown>[];
  readonly parts: readonly Record<string, unknown>[];
  /** By bin: what liquidity events moved, then sums of deltas. */
  readonly bins: ReadonlyMap<number, [bigint, bigint, bigint, bigint]>;
  /** Sums of what liquidity events moved, scaled, by event. */
  readonly liquidity: readonly (readonly [bigint, bigint])[];
}

const TOPICS: Readonly<Record<string, Hex>> = {
  swap: toEventSelector('Swap(address,address,uint256,uint256,uint256)'),
  part: toEventSelector('BinSwapped(int256,uint256,uint256)'),
  added: toEventSelector('LiquidityAdded(address,uint80,int256[],(int256,int256)[],uint256[])'),
  removed: toEventSelector('LiquidityRemoved(address,uint80,int256[],(int256,int256)[],uint256[])'),
  collected: toEventSelector('ProtocolFeesCollected(uint256,uint256,uint256,uint256)'),
};

const upper = (word: bigint) => word >> 128n;
const lower = (word: bigint) => word & ((1n << 128n) - 1n);
const signed = (half: bigint) => (half >> 127n === 1n ? half - (1n << 128n) : half);
const wordsOf = (data: Hex) => (data.slice(2).match(/.{64}/g) ?? []).map((digits) => BigInt(`0x${digits}`));

export async function readPackedLogs(client: PublicClient, address: Address): Promise<PackedLogs> {
  const reader = new LogReader();
  for (const log of await client.getLogs({ address, fromBlock: 0n })) reader.read(log);
  return reader.result();
}

class LogReader {
  readonly #sums = new Map<string, bigint>();
  readonly #transactions = new Set<Hex>();
  readonly #swaps: Record<string, unknown>[] = [];
  readonly #parts: Record<string, unknown>[] = [];
  readonly #bins = new Map<number, [bigint, bigint, bigint, bigint]>();
  readonly #liquidity: (readonly [bigint, bigint])[] = [];
  /** Fee words of the swap that is not over. */
  #open: bigint[] = [];

  read(log: Log<bigint, number, false>): void {
    const [topic] = log.topics;
    if (topic === TOPICS.part) this.#readPart(log);
    else if (topic === TOPICS.swap) this.#readSwap(log);
    else if (topic === TOPICS.added) this.#readLiquidity(log, 1n);
    else if (topic === TOPICS.removed) this.#readLiquidity(log, -1n);
    else if (topic === TOPICS.collected) this.#readCollection(log);
  }

  result(): PackedLogs {
    const activity = Object.fromEntries(this.#sums);
    const swap_tx_count = this.#transactions.size;
    return {
      activity: { ...activity, swap_tx_count },
      swaps: this.#swaps,
      parts: this.#parts,
      bins: this.#bins,
      liquidity: this.#liquidity,
    };
  }

  #add(name: string, amount: bigint): void {
    this.#sums.set(name, (this.#sums.get(name) ?? 0n) + amount);
  }

  #readPart(log: Log<bigint, number, false>): void {
    const [bin = 0n, deltas = 0n, fees = 0n] = wordsOf(log.data);
    const bin_idx = Number(BigInt.asIntN(256, bin));
    const [delta0, delta1] = [signed(upper(deltas)), signed(lower(deltas))];
    const sums = this.#binAt(bin_idx);
    sums[2] += delta0;
    sums[3] += delta1;
    this.#open.push(fees);
    const halves = { fees_high: upper(fees), fees_low: lower(fees) };
    this.#parts.push({ ...placeOf(log), bin_idx, delta0, delta1, ...halves });
  }

  #readSwap(log: Log<bigint, number, false>): void {
    const [details = 0n, amounts = 0n, platform = 0n] = wordsOf(log.data);
    const [amount0, amount1] = [signed(upper(amounts)), signed(lower(amounts))];
    const side = amount0 > 0n ? 'sale' : 'purchase';
    for (const fees of this.#open) {
      this.#add(`${side}_bin_fees_high`, upper(fees));
      this.#add(`${side}_bin_fees_low`, lower(fees));
    }
    this.#open = [];
    this.#add(`${side}_platform_fees_high`, upper(platform));
    this.#add(`${side}_platform_fees_low`, lower(platform));
    this.#add('swap_count', 1n);
    this.#transactions.add(log.transactionHash);
    for (const [token, amount] of [amount0, amount1].entries()) {
      if (amount > 0n) this.#add(`swap_in${token}_raw`, amount);
      else this.#add(`swap_out${token}_raw`, -amount);
      this.#add('transfer_count', amount === 0n ? 0n : 1n);
    }
    const words = { details, platform_fees_high: upper(platform), platform_fees_low: lower(platform) };
    const zero_for_one = amount0 > 0n;
    this.#swaps.push({ ...placeOf(log), amount0_raw: amount0, amount1_raw: amount1, zero_for_one, ...words });
  }

  #readLiquidity(log: Log<bigint, number, false>, sign: bigint): void {
    const types = [{ type: 'int256[]' }, { type: 'int256[2][]' }, { type: 'uint256[]' }] as const;
    const [bins, deltas] = decodeAbiParameters(types, log.data);
    const sum: [bigint, bigint] = [0n, 0n];
    for (const [index, bin] of bins.entries()) {
      const own = deltas[index] ?? [0n, 0n];
      const sums = this.#binAt(Number(bin));
      for (const token of [0, 1] as const) {
        const moved = sign * (own[token] < 0n ? -own[token] : own[token]);
        sums[token] += moved;
        sum[token] += moved;
      }
    }
    this.#liquidity.push(sum);
    this.#add(sign > 0n ? 'liquidity_add_count' : 'liquidity_remove_count', 1n);
  }

  #readCollection(log: Log<bigint, number, false>): void {
    const [protocol0 = 0n, protocol1 = 0n, admin0 = 0n, admin1 = 0n] = wordsOf(log.data);
    this.#add('fees_collected0_raw', protocol0 + admin0);
    this.#add('fees_collected1_raw', protocol1 + admin1);
    for (const amount of [protocol0, protocol1, admin0, admin1]) this.#add('transfer_count', amount === 0n ? 0n : 1n);
  }

  #binAt(bin: number): [bigint, bigint, bigint, bigint] {
    const known = this.#bins.get(bin) ?? [0n, 0n, 0n, 0n];
    this.#bins.set(bin, known);
    return known;
  }
}

function placeOf({ blockNumber, logIndex }: Log<bigint, number, false>) {
  return { block_number: Number(blockNumber), log_index: logIndex };
}
