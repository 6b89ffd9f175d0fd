import {
  type Address,
  decodeAbiParameters,
  encodeFunctionData,
  type Hex,
  multicall3Abi,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  zeroAddress,
} from 'viem';
import { tokenAbi } from '../../devnet/abi.ts';
import { deployToken } from '../../devnet/actions.ts';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { type DevChain, send } from '../../devnet/dev-chain.ts';
import type { ScenarioToken } from '../../devnet/scenario/market.ts';
import { V0_POOL_FACTORY } from '../../protocol/abi/v0.ts';

const factoryAbi = parseAbi([
  'function createPool(address token0, address token1, address priceProvider, bytes32 salt)',
]);
const poolAbi = parseAbi([
  'function swap(address recipient, bool exactInput, int128 amount0Delta, int128 amount1Delta)',
]);
/** As logs on the public chains have them. */
const CREATED = '0xe1c304acd9cda85cdced26da15edf3fd1a07d96caf4f9cedb068823618b93d4d';
const SWAP = '0xcd8b75a7fb6cb82ab3acded68ac53af5c43d19b51a91b9d5640bb73622dbdf57';
const SWAP_DATA = parseAbiParameters('address, address, bool, int128, int128, int16, uint104');
const PLENTY = 10n ** 40n;

/** A swap: raw units, positive into the pool. */
type Amounts = readonly [bigint, bigint];

/** A pool of the oldest generation. */
export interface V0PoolOnChain {
  readonly address: Address;
  readonly token0: Address;
  readonly token1: Address;
}

/** A swap as the node logs it. */
export interface V0SwapLog {
  readonly pool: string;
  readonly block: number;
  readonly timestamp: number;
  readonly log: number;
  readonly transaction: string;
  readonly sender: string;
  readonly recipient: string;
  readonly amounts: Amounts;
}

/** A factory of the oldest generation with two pools: one of priced tokens, one of a token that no other pool has. */
export class V0Chain {
  readonly chain: DevChain;
  readonly fromBlock: number;
  readonly pools: readonly V0PoolOnChain[];
  readonly #multicall: Address;

  private constructor(of: Pick<V0Chain, 'chain' | 'fromBlock' | 'pools'>, multicall: Address) {
    ({ chain: this.chain, fromBlock: this.fromBlock, pools: this.pools } = of);
    this.#multicall = multicall;
  }

  static async deploy(chain: DevChain, multicall: Address, tokens: readonly ScenarioToken[]): Promise<V0Chain> {
    const fromBlock = Number(await chain.client.getBlockNumber());
    await chain.client.setCode({ address: V0_POOL_FACTORY, bytecode: loadArtifact('V0PoolFactory').deployedBytecode });
    const own = await deployToken(chain, { name: 'Early', symbol: 'EARLY', decimals: 9 });
    const [weth, usdc] = ['WETH', 'USDC'].map((symbol) => tokens.find((token) => token.symbol === symbol)?.address);
    if (weth === undefined || usdc === undefined) throw new Error('no tokens');
    const pools: V0PoolOnChain[] = [];
    for (const [salt, pair] of [
      [weth, usdc],
      [own, usdc],
    ].entries()) {
      const [token0, token1] = pair.toSorted() as [Address, Address];
      const args = [token0, token1, zeroAddress, numberToHex(salt, { size: 32 })] as const;
      const data = encodeFunctionData({ abi: factoryAbi, functionName: 'createPool', args });
      const { logs } = await send(chain, { from: chain.roles.curator, to: V0_POOL_FACTORY, data });
      const created = logs.find(({ topics: [topic] }) => topic === CREATED);
      if (created === undefined) throw new Error('no pool was announced');
      const [pool] = decodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], created.data);
      pools.push({ address: pool.toLowerCase() as Address, token0, token1 });
      for (const token of [token0, token1])
        for (const account of [pool, multicall]) {
          const mint = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [account, PLENTY] });
          await send(chain, { from: chain.roles.owner, to: token, data: mint });
        }
    }
    return new V0Chain({ chain, fromBlock, pools }, multicall);
  }

  /** Makes these swaps in one transaction, in order, through a contract. */
  async trade(swaps: readonly { readonly pool: number; readonly amounts: Amounts }[]): Promise<void> {
    const calls = swaps.flatMap(({ pool, amounts }) => {
      const { address, token0, token1 } = this.#pool(pool);
      const approvals = [token0, token1].map((target) => ({
        target,
        data: encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [address, PLENTY] }),
      }));
      const args = [this.chain.roles.taker, amounts[0] > 0n, ...amounts] as const;
      return [
        ...approvals,
        { target: address, data: encodeFunctionData({ abi: poolAbi, functionName: 'swap', args }) },
      ];
    });
    const bundle = calls.map(({ target, data: callData }) => ({ target, callData, allowFailure: false }));
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [bundle] });
    await send(this.chain, { from: this.chain.roles.trader, to: this.#multicall, data });
  }

  /** Some transactions: swaps of both pools and both directions, also several in one. */
  async act(): Promise<void> {
    await this.trade([{ pool: 0, amounts: [3_000_000_001n, -900_000_001n] }]);
    await this.trade([
      { pool: 0, amounts: [-7n, 2_000_000_000n] },
      { pool: 1, amounts: [5_000_000_000n, -12_345n] },
      { pool: 0, amounts: [10n ** 10n, -1n] },
    ]);
    await this.trade([{ pool: 1, amounts: [-3n, 4n] }]);
    await this.trade([{ pool: 1, amounts: [0n, 0n] }]);
  }

  /** All swaps, by `eth_getLogs` alone. */
  async swapLogs(): Promise<V0SwapLog[]> {
    const { client } = this.chain;
    const address = this.pools.map((pool) => pool.address);
    const logs = await client.getLogs({ address, fromBlock: 0n });
    const times = new Map<bigint, number>();
    for (const { blockNumber } of logs)
      if (!times.has(blockNumber)) times.set(blockNumber, Number((await client.getBlock({ blockNumber })).timestamp));
    return logs
      .filter(({ topics: [topic] }) => topic === SWAP)
      .map(({ address: pool, blockNumber, logIndex, transactionHash, data }) => {
        const [sender, recipient, , amount0, amount1] = decodeAbiParameters(SWAP_DATA, data as Hex);
        const accounts = { pool: pool.toLowerCase(), sender: sender.toLowerCase(), recipient: recipient.toLowerCase() };
        const place = { block: Number(blockNumber), timestamp: times.get(blockNumber) ?? 0, log: logIndex };
        return { ...place, ...accounts, transaction: transactionHash, amounts: [amount0, amount1] as const };
      });
  }

  #pool(place: number): V0PoolOnChain {
    const pool = this.pools[place];
    if (pool === undefined) throw new RangeError('no such pool');
    return pool;
  }
}
