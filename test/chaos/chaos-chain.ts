import { setTimeout as sleep } from 'node:timers/promises';
import type { PublicClient } from 'viem';
import { type Anvil, startAnvil } from '../../devnet/anvil.ts';
import type { ServedChain } from '../../devnet/chains-config.ts';
import { connectDevChain, type DevChain, emptyPool } from '../../devnet/dev-chain.ts';
import { connectNode, request } from '../../devnet/json-rpc.ts';
import type { Misbehaviour } from '../../devnet/misbehaviour.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import type { ScenarioPool } from '../../devnet/scenario/plan.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { type Random, seededRandom } from '../../devnet/traffic/random.ts';
import { createTraffic, type Traffic } from '../../devnet/traffic.ts';
import { Attacker } from './attacker.ts';

export interface ChainPlan {
  readonly chainId: number;
  readonly name: string;
  readonly kind: 'ethereum' | 'bsc';
}

/** Ways of stalling, each for a while. */
const STALLS: readonly Misbehaviour[] = [
  { kind: 'hanging' },
  { kind: 'hanging' },
  { kind: 'slow', ms: 1_500 },
  { kind: 'down' },
  { kind: 'trickle' },
  { kind: 'text', status: 502, body: '<html>Bad Gateway</html>' },
];

/** How often, in a hundred actions, a new pool is opened. */
const OPENINGS = 2;
/** Above the numbers of the scenario's own pools. */
const FIRST_NEW_POOL = 1_000;

/** Actions that fail in a row until the node counts as gone. */
const TIMEOUT_MS = 20;

interface Parts {
  readonly scenario: ServedChain['scenario'];
  readonly pools: ScenarioPool[];
  readonly chain: DevChain;
  readonly proxy: RpcProxy;
  readonly traffic: Traffic;
  readonly random: Random;
  readonly attacker: Attacker | undefined;
}

/** A chain with pools that trade, behind a proxy through which every process of the service reaches it. */
export class ChaosChain {
  readonly plan: ChainPlan;
  readonly anvil: Anvil;
  readonly client: PublicClient;
  readonly scenario: ServedChain['scenario'];
  readonly attacker: Attacker | undefined;
  readonly #chain: DevChain;
  readonly #proxy: RpcProxy;
  readonly #traffic: Traffic;
  readonly #random: Random;
  /** Those of the scenario: it grows and shrinks with the chain. */
  readonly #pools: ScenarioPool[];
  reorganisations = 0;
  deepest = 0;
  blocksUndone = 0;
  stalls = 0;
  actions = 0;
  poolsOpened = 0;
  /** Traffic and reorganisations take turns. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(plan: ChainPlan, anvil: Anvil, parts: Parts) {
    this.plan = plan;
    this.anvil = anvil;
    this.client = connectNode(anvil.url);
    this.scenario = parts.scenario;
    this.attacker = parts.attacker;
    this.#chain = parts.chain;
    this.#proxy = parts.proxy;
    this.#traffic = parts.traffic;
    this.#random = parts.random;
    this.#pools = parts.pools;
  }

  static async start(plan: ChainPlan, seed: number, isAttacked = false): Promise<ChaosChain> {
    const anvil = await startAnvil({ chainId: plan.chainId });
    const deployed = await runScenario({
      rpcUrl: anvil.url,
      chainId: plan.chainId,
      packed: packedVariant('sumOnEdges'),
    });
    const pools = [...deployed.pools];
    const scenario = { ...deployed, pools };
    const [chain, proxy, traffic] = await Promise.all([
      connectDevChain(anvil.url),
      startRpcProxy(anvil.url, false),
      createTraffic({ rpcUrl: anvil.url, scenario, seed }),
    ]);
    const tokens = scenario.tokens.map(({ address }) => address);
    const attacker = isAttacked ? await Attacker.settle(chain, tokens, seededRandom(seed + 1)) : undefined;
    return new ChaosChain(plan, anvil, {
      scenario,
      pools,
      chain,
      proxy,
      traffic,
      random: seededRandom(seed),
      attacker,
    });
  }

  /** As the service sees it. */
  get served(): ServedChain {
    return { ...this.plan, url: this.#proxy.url, scenario: this.scenario };
  }

  /** As a client that is not disturbed sees it. */
  get reference(): ServedChain {
    return { ...this.plan, url: this.anvil.url, scenario: this.scenario };
  }

  /** Honest pools and those of the attacker, a few of which a reorganisation may have undone. */
  get pools(): readonly Pick<ScenarioPool, 'address' | 'token0' | 'token1'>[] {
    return [...this.scenario.pools, ...(this.attacker?.pools ?? [])];
  }

  head(): Promise<number> {
    return this.client.getBlockNumber().then(Number);
  }

  /** Trades, a block per action, until it is stopped. @throws Error when the node takes nothing any more */
  async trade(perSecond: number, signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const startedAt = performance.now();
      const done = await this.#inTurn(() => this.#act());
      failures = done ? 0 : failures + 1;
      if (failures >= TIMEOUT_MS) throw new Error(`${this.plan.name} takes no transactions`);
      await sleep(Math.max(0, 1_000 / perSecond - (performance.now() - startedAt)));
    }
  }

  /**
   * Replaces the newest blocks by others with other transactions. Clients see the old branch, then the longer new one:
   * the node holds its answers meanwhile.
   */
  reorganise(depth: number): Promise<void> {
    return this.#inTurn(async () => {
      const { promise: until, resolve: release } = Promise.withResolvers<void>();
      this.#proxy.misbehave({ kind: 'held', until });
      try {
        await emptyPool(this.#chain);
        const head = await this.head();
        await request(this.anvil.url, 'anvil_rollback', [depth]);
        await this.#forgetUndonePools();
        await this.#grow(head + 1);
      } finally {
        this.#proxy.misbehave(null);
        release();
      }
      this.reorganisations += 1;
      this.blocksUndone += depth;
      this.deepest = Math.max(this.deepest, depth);
    });
  }

  /** The attacker does one more thing, unless the node refuses it. */
  beAttacked(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.attacker !== undefined) await isTaken(this.attacker.act());
    });
  }

  /** The node fails its clients for a while in one of several ways. A reorganisation meanwhile ends it early. */
  async stall(random: Random, ms: number): Promise<void> {
    this.stalls += 1;
    this.#proxy.misbehave(random.pick(STALLS));
    await sleep(ms);
    await this.#inTurn(async () => this.#proxy.misbehave(null));
  }

  /** Trades until this many blocks more are there. */
  advance(blocks: number): Promise<void> {
    return this.#inTurn(async () => this.#grow((await this.head()) + blocks));
  }

  /** Mines empty blocks: nothing is left in the air. */
  async rest(blocks: number): Promise<void> {
    await this.#inTurn(() => request(this.anvil.url, 'anvil_mine', [blocks]));
  }

  /** Unix seconds. */
  async headTimestamp(): Promise<number> {
    return Number((await this.client.getBlock()).timestamp);
  }

  /** Mines an empty block at this time, Unix seconds. */
  async restAt(timestamp: number): Promise<void> {
    await this.#inTurn(async () => {
      await request(this.anvil.url, 'evm_setNextBlockTimestamp', [timestamp]);
      await request(this.anvil.url, 'anvil_mine', [1]);
    });
  }

  async stop(): Promise<void> {
    await this.#proxy.stop();
    await this.anvil.stop();
  }

  /** Trades until the chain is at a height; where an action mined nothing, an empty block goes in between. */
  async #grow(height: number): Promise<void> {
    for (let head = await this.head(); head < height; ) {
      await this.#act();
      const grown = await this.head();
      if (grown === head) await request(this.anvil.url, 'anvil_mine', [1]);
      head = await this.head();
    }
  }

  /** False when the node refused, as it does what a reorganisation made impossible. */
  async #act(): Promise<boolean> {
    const isDone = await isTaken(this.#random.chance(OPENINGS) ? this.#openPool() : this.#traffic.step());
    if (isDone) this.actions += 1;
    return isDone;
  }

  /** A pool that the index meets while it follows the chain; traffic trades in it from then on. */
  async #openPool(): Promise<void> {
    const { finish: _, ...plan } = this.#random.pick(TRADING_POOLS);
    const setup = { chain: this.#chain, deployment: this.scenario.deployment, tokens: this.scenario.tokens };
    this.#pools.push(await buildPool(setup, plan, FIRST_NEW_POOL + this.poolsOpened));
    this.poolsOpened += 1;
  }

  async #forgetUndonePools(): Promise<void> {
    const codes = await Promise.all(this.#pools.map(({ address }) => this.client.getCode({ address })));
    const standing = this.#pools.filter((_, index) => codes[index] !== undefined);
    this.#pools.splice(0, this.#pools.length, ...standing);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

/** False when the node or a contract refused it. */
async function isTaken(action: Promise<unknown>): Promise<boolean> {
  try {
    await action;
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
