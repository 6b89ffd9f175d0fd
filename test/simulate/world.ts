import type { ChainConfig } from '../../config/chains-schema.ts';
import { maxQuoteAgeMs } from '../../config/quotes-schema.ts';
import { PoolTable } from '../../quoting/pools/pool-directory.ts';
import { flatPool } from '../../quoting/pools/served-pool.fixture.ts';
import { ApiProcess, type Surroundings } from './api-process.ts';
import { MAX_SKEW_MS } from './draw-action.ts';
import { LevelReader, type LevelReaderOptions } from './level-reader.ts';
import { Machine } from './machine.ts';
import { Maker } from './maker.ts';
import { Miner } from './miner.ts';
import type { Plan } from './plan.ts';
import { Random } from './random.ts';
import { StreamReader, type StreamReaderOptions } from './stream-reader.ts';
import { Truth } from './truth.ts';
import { FIRST_LIVE_PRICE, VirtualChain } from './virtual-chain.ts';
import { poolAddress, VirtualNode } from './virtual-node.ts';
import { VirtualRedis } from './virtual-redis.ts';
import { VirtualSource } from './virtual-source.ts';
import type { VirtualTime } from './virtual-time.ts';
import { CHAIN, configOf, QUOTES } from './world-config.ts';

/** Takes what readers get, and what processes log as errors. */
export type Watcher = Pick<StreamReaderOptions, 'onState'> &
  Pick<LevelReaderOptions, 'onFrame'> &
  Pick<Surroundings, 'onError'>;

/** How long pushed heads are on their way to a process: it may be behind another one. */
export const PUSH_MS = [5, 5, 300, 1_500] as const;

/** All that takes part in a simulation. */
export class World {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly config: ChainConfig;
  readonly chain: VirtualChain;
  readonly nodes: readonly VirtualNode[];
  readonly redis: VirtualRedis;
  readonly sources: readonly VirtualSource[];
  readonly truth = new Truth();
  readonly maker = new Maker(this);
  readonly miner: Miner;
  readonly processes: ApiProcess[] = [];
  readonly readers: StreamReader[] = [];
  readonly takers: LevelReader[] = [];
  /** The process that each reader reaches next. */
  readonly places: number[] = [];
  readonly takerPlaces: number[] = [];
  #reorganisedAt = Number.NEGATIVE_INFINITY;
  /** When a block last came after none that could be used. */
  usableSince = 0;
  readonly #maxAgeMs: number;
  #lastPrice = FIRST_LIVE_PRICE;
  #trades = new Set<number>();
  #started = 0;
  readonly #pushes: Random;
  readonly #table: PoolTable;
  readonly #watcher: Watcher;

  constructor(plan: Plan, time: VirtualTime, watcher: Watcher) {
    this.plan = plan;
    this.time = time;
    const { seed, pools, blockTimeMs } = plan;
    const randomOf = (name: string) => Random.of(seed, name);
    this.#pushes = randomOf('pushes');
    this.config = configOf(plan);
    this.#maxAgeMs = maxQuoteAgeMs(QUOTES, blockTimeMs);
    const served = Array.from({ length: pools }, (_, pool) =>
      flatPool(pool, { chainId: CHAIN, address: poolAddress(pool) }),
    );
    this.#table = new PoolTable(served);
    this.#watcher = watcher;
    this.chain = new VirtualChain(pools, blockTimeMs, 0, time.wallMs());
    this.nodes = Array.from(
      { length: plan.nodes },
      (_, node) => new VirtualNode(`node${node}`, this.chain, time, randomOf(`node${node}`)),
    );
    this.redis = new VirtualRedis(time, randomOf('redis'));
    this.sources = (this.config.live?.sources ?? [])
      .filter(({ kind }) => kind !== 'own')
      .map((config, place) => new VirtualSource(config, this.chain, this.truth, time, randomOf(`source${place}`)));
    this.miner = new Miner(time, randomOf('blocks'), blockTimeMs, () => this.#mine());
  }

  /** Starts processes, then readers. */
  async begin(): Promise<void> {
    const { time, plan } = this;
    for (let place = 0; place < plan.processes; place += 1) this.restart(place, 0);
    await time.pass(0);
    for (let reader = 0; reader < plan.readers; reader += 1) this.readers.push(this.#openReader(reader));
    for (let taker = 0; taker < plan.takers; taker += 1) this.takers.push(this.#openTaker(taker));
  }

  #openReader(reader: number): StreamReader {
    const { time, plan } = this;
    this.places.push(reader % plan.processes);
    const random = Random.of(plan.seed, `reader${reader}`);
    const addresses = this.#table.ofChain(CHAIN).map(({ address }) => address);
    const [depth, basis] = [random.chance(0.4), random.chance(0.85) ? 'live' : 'committed'] as const;
    const { onState, onError } = this.#watcher;
    return new StreamReader({
      name: `reader${reader}`,
      time,
      random,
      pools: random.chance(0.5) ? addresses : someOf(addresses, random),
      depth,
      basis,
      chainId: CHAIN,
      logger: { error: (_: unknown, text: string) => onError(text) } as never,
      target: () => this.#reachable(this.places[reader] ?? 0),
      onState,
    });
  }

  #openTaker(taker: number): LevelReader {
    const { time, plan } = this;
    this.takerPlaces.push(taker % plan.processes);
    return new LevelReader({
      name: `taker${taker}`,
      time,
      random: Random.of(plan.seed, `taker${taker}`),
      basis: taker % 3 === 2 ? 'committed' : 'live',
      target: () => this.#reachable(this.takerPlaces[taker] ?? 0),
      onFrame: this.#watcher.onFrame,
    });
  }

  /** Whether the newest block is young enough for quotes of it; null: some processes may see that otherwise. */
  get isHeadUsable(): boolean | null {
    const ageMs = this.time.trueMs() - Number(this.chain.head.timestamp) * 1_000;
    if (ageMs <= this.#maxAgeMs - MAX_SKEW_MS) return true;
    return ageMs <= this.#maxAgeMs + MAX_SKEW_MS ? null : false;
  }

  /** A price that no pool had before. */
  newPrice(): bigint {
    this.#lastPrice += 1n;
    return this.#lastPrice;
  }

  /** The source that says the prices of a pool. */
  sourceOf(pool: number): VirtualSource {
    return this.sources[pool % this.sources.length] as VirtualSource;
  }

  /** Lets the price of pools move in the next block. */
  trade(pools: readonly number[]): void {
    for (const pool of pools) this.#trades.add(pool);
  }

  /** When the chain was last reorganised, or a block that it replaced came late and looked like one that replaces. */
  get reorganisedAt(): number {
    return Math.max(this.#reorganisedAt, ...this.nodes.map(({ replacedPushAt }) => replacedPushAt));
  }

  reorganise(depth: number, others: number): void {
    const { time, chain } = this;
    this.#reorganisedAt = time.now;
    if (!this.isHeadUsable) this.usableSince = time.now;
    chain.reorganise(depth, others, [0], time.now, time.wallMs());
    for (const node of this.nodes) node.see(chain.head);
  }

  /** A process ends; the connections of its readers end too. @param isSilent they see that by its silence alone */
  kill(place: number, isSilent: boolean): void {
    const { machine } = this.processes[place] as ApiProcess;
    machine.isDead = true;
    for (const reader of this.readers) if (reader.server === machine) reader.leave(isSilent);
    for (const taker of this.takers) if (taker.process?.machine === machine) taker.leave();
  }

  /** Starts a process in place of one that is dead. */
  restart(place: number, skewMs: number): void {
    this.#started += 1;
    const machine = new Machine(`process${this.#started}`, 1_000 * this.#started);
    machine.skewMs = skewMs;
    machine.pushMs = this.#pushes.pick(PUSH_MS);
    const { time, config, redis, nodes, sources } = this;
    const { onError } = this.#watcher;
    const surroundings = { time, config, table: this.#table, redis, nodes, sources, onError };
    const start = () => {
      this.processes[place] = new ApiProcess(machine, surroundings);
    };
    time.after(0, start, machine);
  }

  #reachable(place: number): ApiProcess | undefined {
    const { processes } = this;
    const ordered = [...processes.slice(place), ...processes.slice(0, place)];
    return ordered.find(({ machine }) => !machine.isDead);
  }

  #mine(): void {
    const { time, chain } = this;
    if (!this.isHeadUsable) this.usableSince = time.now;
    chain.mine([...this.#trades], time.now, time.wallMs());
    this.#trades.clear();
    this.truth.landed(chain.head.number, time.now);
    for (const node of this.nodes) node.see(chain.head);
  }
}

/** Some of a list, at least one. */
function someOf<T>(list: readonly T[], random: Random): readonly T[] {
  const sure = random.pick(list);
  return list.filter((each) => each === sure || random.chance(0.5));
}
