import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Quote } from '../../api/quotes/quote-schema.ts';
import { PoolTable, type ServedPool } from '../../quoting/pools/pool-directory.ts';
import { runs } from '../harness/property-seed.ts';
import { SimulatedChain } from './simulated-chain.ts';
import { SimulatedClient, type Wish } from './simulated-client.ts';
import { settle, stopTimers } from './simulated-time.ts';

const POOLS = 6;
const RICH = { callsPerMinute: 100_000 };
const POOR = { callsPerMinute: 60 };

const some = fc.uniqueArray(fc.integer({ min: 0, max: POOLS - 1 }), { maxLength: POOLS });
const pool = fc.integer({ min: 0, max: POOLS - 1 });
const client = fc.integer({ min: 0, max: 4 });
/** Of the API, behind one address: two that read heads for themselves, and two that also get those of the first. */
const PROCESSES = [0, 1, 2, 3] as const;
const FOLLOWERS = [2, 3] as const;
const process = fc.constantFrom(...PROCESSES);
/** Which processes a block is pushed to by sockets, and which followers miss the message of the first one. */
const heard = fc.subarray([0, 1]);
const deaf = fc.subarray([...FOLLOWERS], { maxLength: 1 });

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ op: fc.constant('mine' as const), changed: some, heard, deaf }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 4 }),
      others: fc.integer({ min: 1, max: 4 }),
      changed: some,
      heard,
      deaf,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constantFrom('connect' as const, 'connect' as const, 'cut' as const, 'slow' as const, 'drain' as const),
      client,
      process,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constantFrom('fail' as const, 'heal' as const, 'remove' as const, 'list' as const),
      pool,
      process,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constantFrom('down' as const, 'up' as const, 'restart' as const, 'pause' as const, 'tick' as const),
      process,
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
const steps = fc.array(fc.tuple(step, fc.integer({ min: 0, max: 12 })), { minLength: 10, maxLength: 60 });
const wishes = fc.array(
  fc.record({
    pools: fc.oneof(some, fc.constant('all' as const)),
    depth: fc.boolean(),
    hasKey: fc.boolean(),
  }),
  { minLength: 5, maxLength: 5 },
);

stopTimers();

/**
 * Fails unless a client that says of which block its quotes are holds what the chain says of that block, and the client
 * package holds the same and resumes after the same message.
 */
function check(chain: SimulatedChain, { book, held, hash, fault, wish: { depth, pools } }: SimulatedClient): void {
  if (fault) throw fault;
  const { block, quotes } = held.state();
  expect([block?.hash ?? null, held.resumeId]).toEqual([hash, book.lastId ?? '']);
  // The package moves the time of a quote to that of the block which confirms it.
  const timeless = (all: Iterable<readonly [string, object]>) =>
    new Map([...all].map(([name, quote]) => [name, { ...quote, serverTs: 0 }]));
  const truth = [...book.quotes].map(([name, { quote }]) => [name, quote] as const);
  expect(timeless(quotes)).toEqual(timeless(hash ? truth : []));
  if (hash === null) return;
  const named = book.isWhole && pools !== 'all' ? pools : [];
  const isKnown = (name: string) => book.quotes.has(name) || book.failed.has(name) || book.removed.has(name);
  expect(named.filter(({ address }) => !isKnown(address))).toEqual([]);
  for (const [name, { quote }] of book.quotes) {
    const { bidAdj, depth: shown } = Quote.parse(quote);
    const price = chain.priceAt(hash, name);
    expect([name, bidAdj, shown?.bids[0]?.price]).toEqual([name, price, depth ? price : undefined]);
  }
}

/**
 * Fails unless each `reorg` of a client names the lowest replaced block, or of a lower one its first block,
 * and none is missing.
 */
function checkReorgs(chain: SimulatedChain, { reorgs, steps }: SimulatedClient): void {
  for (const { from, before, after, first } of reorgs) {
    const lowest = Number(chain.replacedFrom(before, after));
    expect(from).toBeGreaterThanOrEqual(lowest);
    expect(from).toBeLessThanOrEqual(Math.max(lowest, first));
  }
  for (const { before, after } of steps) expect(chain.replacedFrom(before, after)).toBeNull();
}

/** Processes, each with its own list of pools, and clients that connect to any. */
class World {
  readonly chain = new SimulatedChain(POOLS);
  readonly clients: readonly SimulatedClient[];
  readonly tables = PROCESSES.map(() => new PoolTable(this.chain.pools));
  readonly processes: ReturnType<SimulatedChain['startProcess']>[];
  readonly #budget: typeof RICH;
  /** Followers that miss what the first process says. */
  deaf: readonly number[] = [];

  constructor(wishes: readonly Wish[], budget: typeof RICH) {
    this.#budget = budget;
    this.processes = this.tables.map((table) => this.#start(table));
    this.#tellHeads();
    this.clients = wishes.map((wish) => new SimulatedClient(wish, this.chain.pools));
  }

  async connect(client: SimulatedClient, process: number): Promise<void> {
    const { stream } = this.processes[process] as (typeof this.processes)[number];
    if (client.isOpen) return;
    let isOver = false;
    const connected = client.connect(stream).catch(() => undefined);
    void connected.then(() => {
      isOver = true;
    });
    for (let turn = 0; turn < 50 && !isOver; turn += 1) await settle(1);
    // It may wait for a read at the head.
    if (!isOver) await vi.advanceTimersByTimeAsync(3_000);
    await connected;
  }

  /** Another process takes the place of one; all clients connect to the other. */
  async restart(process: number): Promise<void> {
    await this.processes[process]?.warmer.close();
    this.processes[process] = this.#start(this.tables[process] as PoolTable);
    if (process === 0) this.#tellHeads();
    for (const each of this.clients) {
      each.cut();
      await this.connect(each, (process + 1) % PROCESSES.length);
    }
  }

  /** Followers learn of heads at which the first process reads. */
  #tellHeads(): void {
    this.processes[0]?.heads.onHead(({ block }) => {
      for (const process of FOLLOWERS) {
        if (!this.deaf.includes(process)) this.processes[process]?.heads.pushShared({ block, endpoint: null });
      }
    });
  }

  push(heard: readonly number[]): void {
    for (const process of heard) if (!this.chain.isDown) this.processes[process]?.heads.push(this.chain.head);
  }

  /** Lists or removes a pool in one process, unless it is so already. */
  list({ chainId, address }: ServedPool, process: number, isListed: boolean): void {
    const table = this.tables[process] as PoolTable;
    const pool = this.chain.table.find(chainId, address) as ServedPool;
    // The last pool stays, so that each process has something to read.
    if (address === this.chain.pools.at(-1)?.address) return;
    if ((table.find(chainId, address) !== undefined) === isListed) return;
    if (isListed) table.put(pool);
    else table.remove(pool, 'not_served');
  }

  #start(table: PoolTable) {
    return this.chain.startProcess(this.#budget, { table: async () => table });
  }
}

async function act(world: World, action: Step): Promise<void> {
  const { chain, processes } = world;
  const target = 'client' in action ? (world.clients[action.client] as SimulatedClient) : null;
  const pool = 'pool' in action ? (chain.pools[action.pool] as ServedPool) : null;
  if ('deaf' in action) world.deaf = action.deaf;
  if (action.op === 'mine') chain.mine(action.changed);
  if (action.op === 'reorg') chain.reorganise(action.depth, action.others, action.changed);
  if (action.op === 'mine' || action.op === 'reorg') world.push(action.heard);
  if (action.op === 'connect' && target) await world.connect(target, action.process);
  if (action.op === 'cut') target?.cut();
  if (action.op === 'slow' && target) target.isSlow = true;
  if (action.op === 'drain') target?.drain();
  if (action.op === 'fail' && pool) chain.failing.add(pool.address);
  if (action.op === 'heal' && pool) chain.failing.delete(pool.address);
  if ((action.op === 'remove' || action.op === 'list') && pool) world.list(pool, action.process, action.op === 'list');
  if (action.op === 'down') chain.isDown = true;
  if (action.op === 'up') chain.isDown = false;
  if (action.op === 'restart') await world.restart(action.process);
  if (action.op === 'pause') chain.now += 20_000;
  if (action.op === 'tick') for (const { stream } of processes) stream.tick();
}

/** Ends all failures, and lets everyone get to the head. */
async function recover(world: World): Promise<void> {
  const { chain, clients } = world;
  chain.isDown = false;
  chain.failing.clear();
  world.deaf = [];
  // All processes have the same list again.
  for (const pool of chain.pools) {
    const isListed = world.tables[0]?.find(pool.chainId, pool.address) !== undefined;
    for (const process of PROCESSES) world.list(pool, process, isListed);
  }
  // A look at the chain that began before may still fail.
  await settle(30);
  for (const [index, each] of clients.entries()) {
    each.drain();
    await world.connect(each, index % PROCESSES.length);
  }
  for (const process of PROCESSES) {
    await world.connect(new SimulatedClient({ pools: chain.pools.slice(-1), depth: false, hasKey: true }), process);
  }
  await settle(30);
  // A node that is behind for ten seconds was rolled back.
  for (let block = 0; block < 13; block++) {
    chain.mine([0, 1]);
    world.push([0, 1]);
    await settle(15);
  }
}

test('property: over blocks, reorganisations, cuts and failures a client of four processes holds what REST says of its block, or knows that it does not', async () => {
  let reorgs = 0;
  await fc.assert(
    fc.asyncProperty(steps, wishes, fc.boolean(), async (list, ofClients, isPoor) => {
      const named = new SimulatedChain(POOLS).pools;
      const pick = (pools: readonly number[]) => named.filter((_, index) => pools.includes(index));
      const world = new World(
        ofClients.map(({ pools, ...rest }) => ({ ...rest, pools: pools === 'all' ? pools : pick(pools) })),
        isPoor ? POOR : RICH,
      );
      for (const each of world.clients) await world.connect(each, 0);
      for (const [action, turns] of list) {
        await act(world, action);
        await settle(turns);
        for (const each of world.clients) check(world.chain, each);
      }
      await recover(world);
      for (const each of world.clients) {
        check(world.chain, each);
        checkReorgs(world.chain, each);
        reorgs += each.reorgs.length;
        expect([each.isOpen, each.hash]).toEqual([true, world.chain.head.block.hash]);
        const wanted = each.wish.pools === 'all' ? named : each.wish.pools;
        for (const { chainId, address } of wanted) {
          if (!world.tables[0]?.find(chainId, address)) continue;
          const { quotes, failed, removed } = each.book;
          // A pool that was gone for a while is subscribed to again by who subscribed to all.
          const isKnown =
            quotes.has(address) || failed.has(address) || (each.wish.pools !== 'all' && removed.has(address));
          expect([address, isKnown]).toEqual([address, true]);
          if (!isPoor && each.wish.hasKey) expect([address, failed.get(address)]).not.toEqual([address, 503]);
        }
      }
      for (const each of world.clients) each.cut();
      for (const { warmer } of world.processes) await warmer.close();
    }),
    { numRuns: runs(20) },
  );
  expect(reorgs).toBeGreaterThan(10);
}, 240_000);
