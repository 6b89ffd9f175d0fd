import { READ_CLASSES } from '../../chain/read-schedule/call-budget.ts';
import type { Action } from './action.ts';
import type { ApiProcess } from './api-process.ts';
import type { Faults } from './faults.ts';
import { CALM } from './virtual-redis.ts';
import type { VirtualSource } from './virtual-source.ts';
import type { World } from './world.ts';

type Doing<K extends Action['do']> = (world: World, action: Extract<Action, { do: K }>, faults: Faults) => void;

const processAt = ({ processes }: World, place: number): ApiProcess => processes[place] as ApiProcess;
const sourcesAt = ({ sources }: World, place: number | 'all'): readonly VirtualSource[] =>
  place === 'all' ? sources : [sources[place] as VirtualSource];

const DOING: { readonly [K in Action['do']]: Doing<K> } = {
  price: (world, { pool }) => world.sourceOf(pool).set(pool, world.newPrice()),
  cancel: (world, { pool }) => world.sourceOf(pool).set(pool, null),
  hush: (world, action, faults) => {
    for (const source of world.sources) for (const pool of source.pools) source.set(pool, null);
    DOING.unpublish(world, { ...action, do: 'unpublish' }, faults);
  },
  flash: (world, { pool, ms, reader, to, isLost }) => {
    const source = world.sourceOf(pool);
    // Other processes are to have no live price of the pool.
    if (source.pools.includes(pool)) return source.set(pool, null);
    world.redis.losesOverrides = isLost;
    source.set(pool, world.newPrice());
    world.time.after(ms, () => {
      world.redis.losesOverrides = false;
      world.places[reader] = to;
      world.readers[reader]?.leave(false);
      source.set(pool, null);
    });
  },
  trade: (world, { pools }) => world.trade(pools),
  publish: (world, { blocks }, faults) => world.maker.publish(blocks, faults.isCalmFor(0)),
  unpublish: (world, _, faults) => world.maker.publish(null, faults.isCalmFor(0)),
  move: (world, { reader, to, isSilent }) => {
    world.places[reader] = to;
    world.readers[reader]?.leave(isSilent);
  },
  take: (world, { reader, to }) => {
    world.takerPlaces[reader] = to;
    world.takers[reader]?.leave();
  },
  slow: ({ time, takers }, { reader, ms }) => {
    takers[reader]?.setSlow(true);
    time.after(ms, () => takers[reader]?.setSlow(false));
  },
  rest: ({ time, miner, sources }, { blockMs, repeatMs, ms }) => {
    miner.setPace(blockMs);
    for (const source of sources) source.setPace(repeatMs);
    time.after(ms, () => {
      miner.setPace();
      for (const source of sources) source.setPace();
    });
  },
  away: (world, { who, reader, ms }) => {
    const one = world[who][reader];
    one?.setAway(true);
    world.time.after(ms, () => one?.setAway(false));
  },
  scale: (world, { process, ms, skewMs }, faults) => {
    if (processAt(world, process).machine.isDead) return;
    world.kill(process, false);
    faults.passed('kill');
    world.time.after(ms, () => {
      world.restart(process, skewMs);
      faults.passed('kill');
    });
  },
  lie: (world, action, faults) => {
    const { pool } = action;
    const liar = world.sources.find((source) => source !== world.sourceOf(pool));
    liar?.set(pool, world.newPrice());
    faults.last(action, () => liar?.set(pool, null));
  },
  silence: (world, action, faults) => {
    const sources = sourcesAt(world, action.source);
    for (const source of sources) source.isSilent = true;
    faults.last(action, () => {
      for (const source of sources) source.isSilent = false;
    });
  },
  leap: (world, action, faults) => {
    const sources = sourcesAt(world, action.source);
    for (const source of sources) source.leap = BigInt(action.by);
    faults.last(action, () => {
      for (const source of sources) source.leap = 0n;
    });
  },
  stop: (world, action, faults) => {
    const { machine } = processAt(world, action.process);
    if (machine.isDead || machine.isStopped) return;
    machine.isStopped = true;
    faults.last(action, () => world.time.thaw(machine));
  },
  kill: (world, action, faults) => {
    if (processAt(world, action.process).machine.isDead) return;
    world.kill(action.process, action.isSilent);
    faults.last(action, () => world.restart(action.process, action.skewMs));
  },
  node: ({ nodes }, action, faults) => {
    const concerned = nodes.filter((_, place) => action.node === 'all' || action.node === place);
    for (const node of concerned) node.state = action.becomes;
    faults.last(action, () => {
      for (const node of concerned) node.state = 'well';
    });
  },
  lag: ({ nodes, chain }, action, faults) => {
    const node = nodes[action.node];
    if (node) node.lagMs = action.lagMs;
    faults.last(action, () => {
      if (node) node.lagMs = 0;
      node?.see(chain.head);
    });
  },
  redis: ({ redis }, action, faults) => {
    redis.become(action.becomes);
    if (action.isForgotten) redis.forget();
    faults.last(action, () => redis.become('well'));
  },
  weather: ({ redis }, action, faults) => {
    redis.weather = action;
    faults.last(action, () => {
      redis.weather = CALM;
    });
  },
  reorganise: (world, action, faults) => {
    world.reorganise(action.depth, action.others);
    faults.last(action, () => undefined);
  },
  empty: (world, action, faults) => {
    const { machine, committed, live } = processAt(world, action.process);
    world.time.in(machine, () => {
      for (const { budget } of [committed.schedule, live.schedule])
        for (const kind of READ_CLASSES)
          for (let calls = 0; calls <= budget.callsPerMinute && budget.reserve(kind); calls += 1);
    });
    faults.last(action, () => undefined);
  },
};

/** Does what an action says. */
export function apply(world: World, action: Action, faults: Faults): void {
  (DOING[action.do] as Doing<Action['do']>)(world, action as never, faults);
}
