import { type Address, encodeFunctionData, type Hex, numberToHex, parseAbi, stringToHex } from 'viem';
import { addLiquidity, fundAccounts } from '../../devnet/actions.ts';
import { type Deployment, deployContract, deployProtocol } from '../../devnet/deploy.ts';
import { type DevChain, send } from '../../devnet/dev-chain.ts';
import { packedSwap } from '../../devnet/packed/actions.ts';
import { deployPackedProtocol, type PackedDeployment, packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { PACKED_VARIANTS } from '../../devnet/packed/variants.ts';
import { createPool, type ExtensionSpec, evenBins, stopLossExtension } from '../../devnet/pools.ts';
import type { Random } from '../../devnet/traffic/random.ts';
import { Q64 } from '../../protocol/fixed-point.ts';
import { EXTENSION_PHASES } from '../../protocol/pool-events.ts';

/** How a contract of the attacker behaves, by the numbers of `Switchable.sol`. */
const WAYS = [
  'honest again',
  'burns gas',
  'reverts with much data',
  'answers much',
  'answers nothing',
  'panics',
  'lies',
  'wavers',
  'reenters',
];

/** What tokens say they are called. */
const NAMES: readonly Hex[] = [
  stringToHex('USDC'),
  stringToHex('<script>alert(1)</script>"\',;\r\n=1+1'),
  stringToHex('\u0000\u0007\u001b[31m'),
  stringToHex('\u202eCDSU\u2066'),
  stringToHex('A'.repeat(2_000)),
  '0x',
  // No UTF-8: a lone continuation, an encoded surrogate, a cut sequence.
  '0x80eda080f09f98',
];
const DECIMALS = [0, 6, 18, 36, 77];

/** Code that ends itself when it is called: `CALLER SELFDESTRUCT`, with what returns it as the code of a contract. */
const BOMB: Hex = '0x6133ff5f526002601ef3';

const switchableAbi = parseAbi(['function turn(uint8 next)']);
const FORTUNE = 10n ** 30n;
/**
 * Of each bin, a raw unit each. A pool scales both tokens to 18 decimals or more,
 * so that of many it refuses whole units.
 */
const SHARES = 10n ** 12n;
/** In a hundred. */
const OPENINGS = 65;
const FUNDINGS = 60;
const BETRAYALS = 80;
const TRADES = 40;
/**
 * In a packed pool that was just funded, while its contracts are still honest:
 * most of those that turn let nobody trade.
 */
const FIRST_TRADES = 4;
/** Raw units of a trade. */
const MAX_TRADED = 10 ** 6;
const STOP_LOSS = { drawdownE6: 20_000, decayPerSecondE18: 0n, timelockSecs: 60 };

/** A pool of either generation. */
interface HostilePool {
  readonly address: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly isPacked: boolean;
}

/**
 * Opens pools at factories of its own, one of each generation, from the same tokens as honest ones and from its own,
 * behind providers, with extensions and tokens that are honest at first and then turn. In packed ones it trades, before
 * they turn and at times afterwards: what their swaps mean is found out from them.
 */
export class Attacker {
  /** Everything that was ever made here, lowercase: rows which name one of these are the attacker's. */
  readonly addresses = new Set<string>();
  readonly pools: HostilePool[] = [];
  /** How often a contract turned, by what it does since. */
  readonly turns: Record<string, number> = {};
  readonly deployment: Deployment;
  readonly packed: PackedDeployment;
  /** Swaps in packed pools that moved anything. */
  trades = 0;
  readonly #chain: DevChain;
  readonly #honestTokens: readonly Address[];
  readonly #random: Random;
  readonly #switchables: Address[] = [];
  #opened = 0;

  private constructor(
    chain: DevChain,
    { flat, packed }: { readonly flat: Deployment; readonly packed: PackedDeployment },
    honestTokens: readonly Address[],
    random: Random,
  ) {
    this.#chain = chain;
    this.deployment = flat;
    this.packed = packed;
    this.#honestTokens = honestTokens;
    this.#random = random;
    for (const value of [flat, packed].flatMap((each) => Object.values(each))) {
      if (typeof value === 'string') this.addresses.add(value);
    }
    this.addresses.delete(flat.multicall3);
  }

  static async settle(chain: DevChain, honestTokens: readonly Address[], random: Random): Promise<Attacker> {
    const flat = await deployProtocol(chain.rpcUrl, chain.chainId);
    const packed = await deployPackedProtocol(chain, random.pick(PACKED_VARIANTS));
    for (const token of honestTokens) {
      for (const deployment of [flat, packed]) {
        await fundAccounts(chain, deployment, token, { accounts: [chain.roles.untrusted], amount: FORTUNE });
      }
    }
    return new Attacker(chain, { flat, packed }, honestTokens, random);
  }

  /** One more evil deed. Throws what the node or a contract refuses. */
  async act(): Promise<void> {
    const packedPools = this.pools.filter(({ isPacked }) => isPacked);
    if (this.trades === 0 || this.#random.chance(OPENINGS)) await this.#openPool();
    else if (packedPools.length > 0 && this.#random.chance(TRADES)) await this.#trade(this.#random.pick(packedPools));
    else await this.#turn(this.#random.pick(this.#switchables));
  }

  async #openPool(): Promise<void> {
    const random = this.#random;
    const token0 = random.pick(this.#honestTokens);
    const token1 = random.chance(50) ? await this.#token() : random.pick(this.#honestTokens);
    if (token0 === token1) return;
    // Even the shortest run is to see trades.
    const isFirst = this.trades === 0;
    const isPacked = isFirst || random.chance(50);
    const deployment = isPacked ? this.packed : this.deployment;
    const provider = await this.#switchable(token0, token1);
    const extensions = await this.#extensions(token0, token1, { isPacked, provider });
    const pool = await createPool(this.#chain, deployment, {
      token0,
      token1,
      priceProvider: provider,
      bins: evenBins(-3, 3, 1_000),
      extensions,
      initialAmount0PerShareE18: 10n ** 18n,
      initialAmount1PerShareE18: 10n ** 18n,
      creator: this.#chain.roles.untrusted,
      salt: numberToHex(++this.#opened, { size: 32 }),
    });
    this.addresses.add(pool);
    const opened = { address: pool, token0, token1, isPacked };
    this.pools.push(opened);
    const bins = evenBins(-3, 3, 1_000).map(({ bin }) => ({ bin, shares: SHARES }));
    if (isFirst || random.chance(FUNDINGS)) {
      await addLiquidity(this.#chain, deployment, { pool, owner: this.#chain.roles.untrusted, bins });
      for (let i = 0; isPacked && i < FIRST_TRADES; i++) await this.#trade(opened);
    }
    for (const contract of [provider, token1, ...extensions.map(({ address }) => address)]) {
      if (this.#switchables.includes(contract) && random.chance(BETRAYALS)) await this.#turn(contract);
    }
  }

  /**
   * None, a stop loss, or one that takes some hooks: a switchable provider, the pool's own provider,
   * or one that ends itself.
   */
  async #extensions(
    token0: Address,
    token1: Address,
    { isPacked, provider }: { readonly isPacked: boolean; readonly provider: Address },
  ): Promise<ExtensionSpec[]> {
    const random = this.#random;
    if (random.chance(40)) return [];
    if (random.chance(20)) {
      return [isPacked ? packedStopLossExtension(this.packed, STOP_LOSS) : stopLossExtension(this.deployment)];
    }
    const phases = EXTENSION_PHASES.filter(() => random.chance(50));
    if (random.chance(20)) return [{ address: provider, phases }];
    const address = random.chance(15) ? await this.#bomb() : await this.#switchable(token0, token1);
    return [{ address, phases }];
  }

  async #trade({ address }: HostilePool): Promise<void> {
    const random = this.#random;
    const amountSpecified = BigInt(random.integer(1, MAX_TRADED)) * (random.chance(50) ? 1n : -1n);
    const trader = this.#chain.roles.untrusted;
    const { amount0Delta, amount1Delta } = await packedSwap(this.#chain, this.packed, {
      pool: address,
      zeroForOne: random.chance(50),
      amountSpecified,
      trader,
    });
    if (amount0Delta !== 0n || amount1Delta !== 0n) this.trades += 1;
  }

  async #switchable(token0: Address, token1: Address): Promise<Address> {
    const quote = [Q64 - Q64 / 1_000n, Q64 + Q64 / 1_000n];
    return this.#made(await this.#deploy('SwitchableProvider', [token0, token1, ...quote]));
  }

  async #token(): Promise<Address> {
    const args = [this.#random.pick(NAMES), BigInt(this.#random.pick(DECIMALS))];
    return this.#made(await this.#deploy('SwitchableToken', args));
  }

  async #bomb(): Promise<Address> {
    const { contractAddress } = await send(this.#chain, { from: this.#chain.roles.untrusted, data: BOMB });
    if (!contractAddress) throw new Error('the node reports no contract address');
    const address = contractAddress.toLowerCase() as Address;
    this.addresses.add(address);
    return address;
  }

  #deploy(name: 'SwitchableProvider' | 'SwitchableToken', args: readonly unknown[]): Promise<Address> {
    return deployContract(this.#chain, name, args, this.#chain.roles.untrusted);
  }

  #made(contract: Address): Address {
    this.addresses.add(contract);
    this.#switchables.push(contract);
    return contract;
  }

  async #turn(contract: Address): Promise<void> {
    const way = this.#random.integer(0, WAYS.length - 1);
    const data = encodeFunctionData({ abi: switchableAbi, functionName: 'turn', args: [way] });
    await send(this.#chain, { from: this.#chain.roles.untrusted, to: contract, data });
    const name = WAYS[way] ?? '';
    this.turns[name] = (this.turns[name] ?? 0) + 1;
  }
}
