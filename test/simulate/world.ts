import type { ChainConfig } from '../../config/chains-schema.ts';
import { PoolTable } from '../../quoting/pools/pool-directory.ts';
import { flatPool } from '../../quoting/pools/served-pool.fixture.ts';
import { ApiProcess, type Surroundings } from './api-process.ts';
import { LevelReader, type LevelReaderOptions } from './level-reader.ts';
import { Maker } from './maker.ts';
import { Random } from './random.ts';
import type { Plan } from './script.ts';
import { StreamReader, type StreamReaderOptions } from './stream-reader.ts';
import { Truth } from './truth.ts';
import { FIRST_LIVE_PRICE, VirtualChain } from './virtual-chain.ts';
import { poolAddress, VirtualNode } from './virtual-node.ts';
import { VirtualRedis } from './virtual-redis.ts';
import { VirtualSource } from './virtual-source.ts';
import { Machine, type VirtualTime } from './virtual-time.ts';
import { CHAIN, configOf } from './world-config.ts';

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
  readonly processes: ApiProcess[];
  readonly readers: readonly StreamReader[];
  readonly takers: readonly LevelReader[];
  /** The process that each reader reaches next. */
  readonly places: number[] = [];
  readonly takerPlaces: number[] = [];
  #reorganisedAt = Number.NEGATIVE_INFINITY;
  #lastPrice = FIRST_LIVE_PRICE;
  #trades = new Set<number>();
  #started = 0;
  readonly #pushes: Random;
  readonly #table: PoolTable;
  readonly #onError: (text: string) => void;

  constructor(plan: Plan, time: VirtualTime, watcher: Watcher) {
    this.plan = plan;
    this.time = time;
    const { seed, pools, blockTimeMs } = plan;
    const randomOf = (name: string) => Random.of(seed, name);
    this.#pushes = randomOf('pushes');
    this.config = configOf(plan);
    const served = Array.from({ length: pools }, (_, pool) =>
      flatPool(pool, { chainId: CHAIN, address: poolAddress(pool) }),
    );
    const addresses = served.map(({ address }) => address);
    this.#table = new PoolTable(served);
    this.#onError = watcher.onError;
    this.chain = new VirtualChain(pools, blockTimeMs, 0, time.wallMs());
    this.nodes = Array.from(
      { length: plan.nodes },
      (_, node) => new VirtualNode(`node${node}`, this.chain, time, randomOf(`node${node}`)),
    );
    this.redis = new VirtualRedis(time, randomOf('redis'));
    this.sources = (this.config.live?.sources ?? [])
      .filter(({ kind }) => kind !== 'own')
      .map((config, place) => new VirtualSource(config, this.chain, this.truth, time, randomOf(`source${place}`)));
    this.processes = Array.from({ length: plan.processes }, () => this.#start(0));
    this.readers = Array.from({ length: plan.readers }, (_, reader) => {
      this.places.push(reader % plan.processes);
      const random = randomOf(`reader${reader}`);
      const [depth, basis] = [random.chance(0.4), random.chance(0.85) ? 'live' : 'committed'] as const;
      return new StreamReader({
        name: `reader${reader}`,
        time,
        random,
        pools: random.chance(0.5) ? addresses : someOf(addresses, random),
        depth,
        basis,
        chainId: CHAIN,
        logger: this.#silent,
        target: () => this.#reachable(this.places[reader] ?? 0),
        onState: watcher.onState,
      });
    });
    this.takers = Array.from({ length: plan.takers }, (_, taker) => {
      this.takerPlaces.push(taker % plan.processes);
      return new LevelReader({
        name: `taker${taker}`,
        time,
        random: randomOf(`taker${taker}`),
        basis: taker % 3 === 2 ? 'committed' : 'live',
        target: () => this.#reachable(this.takerPlaces[taker] ?? 0),
        onFrame: watcher.onFrame,
      });
    });
    this.#mineSoon(randomOf('blocks'));
  }

  readonly #silent = { error: (_: unknown, text: string) => this.#onError(text) } as never;

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

  restart(place: number, skewMs: number): void {
    this.processes[place] = this.#start(skewMs);
  }

  #start(skewMs: number): ApiProcess {
    this.#started += 1;
    const machine = new Machine(`process${this.#started}`, 1_000 * this.#started);
    machine.skewMs = skewMs;
    machine.pushMs = this.#pushes.pick(PUSH_MS);
    const { time, config, redis, nodes, sources } = this;
    const surroundings = { time, config, table: this.#table, redis, nodes, sources, onError: this.#onError };
    return time.in(machine, () => new ApiProcess(machine, surroundings));
  }

  #reachable(place: number): ApiProcess | undefined {
    const { processes } = this;
    const ordered = [...processes.slice(place), ...processes.slice(0, place)];
    return ordered.find(({ machine }) => !machine.isDead);
  }

  #mineSoon(random: Random): void {
    const { time, chain, plan } = this;
    const mine = () => {
      chain.mine([...this.#trades], time.now, time.wallMs());
      this.#trades.clear();
      this.truth.landed(chain.head.number, time.now);
      for (const node of this.nodes) node.see(chain.head);
      next();
    };
    const next = () =>
      void time.after(random.int(Math.round(plan.blockTimeMs * 0.9), Math.round(plan.blockTimeMs * 1.1)), mine);
    next();
  }
}

/** Some of a list, at least one. */
function someOf<T>(list: readonly T[], random: Random): readonly T[] {
  const sure = random.pick(list);
  return list.filter((each) => each === sure || random.chance(0.5));
}
