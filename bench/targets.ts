/** What a figure has to be, both included. */
export interface Target {
  readonly min?: number;
  readonly max?: number;
}

const atMost = (max: number): Target => ({ max });
const atLeast = (min: number): Target => ({ min });
const none = atMost(0);

/**
 * The targets of each bench, named, ordered and in the units as in `docs/build/benchmarks.md`:
 * its unit test compares both.
 */
export const TARGETS = {
  start: {
    'npm ci': atMost(30),
    'npm run build': atMost(5),
    'demo: first request answered': atMost(15),
    'demo: all up': atMost(20),
    'API, capture, builders ready': atMost(2),
    'indexer ready': atMost(6),
  },
  quotes: {
    'calls, batch of 100': atMost(5),
    'calls, batch with 20 guarded pools': atMost(16),
    'calls, packed by formula': atMost(5),
    'calls, packed by fit': atMost(20),
    'calls, simulated packed pool': atMost(2),
    'calls, simulated with stop loss': atMost(5),
    'gas of a call, M': atMost(50),
    'cached/same bytes, small, %': atLeast(80),
    'cached/same bytes, small, limited, %': atLeast(65),
    'cached/same bytes, 122 levels, %': atLeast(80),
    'cached/same bytes, 122 levels, limited, %': atLeast(65),
    'cached/same bytes, batch of 100, %': atLeast(60),
    'mix/bare, p99': atMost(3),
    'curve, ms': atMost(0.5),
    'memory growth, %': atMost(10),
  },
  route: {
    'warm, p99 ms': atMost(10),
    'cold, p99 ms': atMost(1_000),
    'crowded pair, p99 ms': atMost(15),
    'catalog, bytes a pool': atMost(1_000),
    'catalog, longest stall ms': atMost(20),
  },
  listing: {
    'page/bare query, p99': atMost(6),
    'page/page at a fifth of the swaps': { min: 0.8, max: 1.2 },
  },
  history: {
    'page/query, p99': atMost(6),
    'blocks read/with a fifth of swaps': atMost(1.2),
    "export's memory, all days/one": atMost(1.2),
    'events of 1,000 blocks, ms': atMost(200),
    'quotes p99, attacked/calm': atMost(3),
  },
  stream: {
    'update after chain read, p99 ms': atMost(150),
    'CPU/bare broadcast': atMost(2),
    'memory, end/middle': atMost(1.1),
    'quotes lost': none,
    'messages out of sequence': none,
    'calls a block beyond one connection': atMost(0.1),
    'requested batch, new block, p99 ms': atMost(20),
  },
  live: {
    'stale, %': none,
    'frame to quote, p99 ms': atMost(150),
    'frame to stream, p99 ms': atMost(250),
    'part to quote, p99 ms': atMost(120),
    'part to stream, p99 ms': atMost(130),
    'calls a used frame': atMost(2),
    'quotes under hostile frames/calm, p99': atMost(3),
    'memory, MB': atMost(600),
    'idle, % of a core': atMost(2),
  },
  levels: {
    'CPU of a frame/bare broadcast': atMost(2),
    'CPU of a compressed frame/as it is': atMost(1.2),
    'quotes meanwhile, p99/calm': atMost(3),
    'heap afterwards/before': atMost(1.1),
    'calls to nodes, many without a key/one': atMost(1.1),
  },
  scale: {
    'calls a block, 8 processes/1': atMost(1.1),
    'update after chain read at 4, p99 ms': atMost(150),
    'updates missed': none,
    'Redis bytes/changed bytes': atMost(1.2),
  },
  hostile: {
    'refresh, CPU s': atMost(2),
    'age of honest prices, p99 s': atMost(15),
    'longest stall, ms': atMost(50),
    'memory, MB': atMost(600),
    'start, s': atMost(20),
    'quotes, p99/honest market': atMost(1.3),
    'pages, p99/honest market': atMost(1.3),
    'quotes, flooded/calm, p99': atMost(2),
    'crowded routes, p99 ms': atMost(15),
    'calls at new block': atMost(6),
    'calls at new block, guarded': atMost(12),
    'unhealthy honest pools': none,
    'rejected requests': none,
    defects: none,
    'audit, calls a minute/budget': atMost(1),
    'audit, turns of listed pools, %': atLeast(75),
  },
  indexing: {
    'rate/empty handlers': atLeast(0.5),
    'rate/empty handlers, packed': atLeast(0.5),
    'memory, all/half': atMost(1.3),
    'read and compared/read': atLeast(0.95),
  },
  pamm: {
    'added, p50 ms': atMost(5),
    'added, p99 ms': atMost(25),
    lost: none,
  },
  explorer: {
    'all files, kB gzip': atMost(80),
    'before first rows, kB gzip': atMost(30),
    'first rows, ms': atMost(1_500),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Target>>>>;

export type BenchName = keyof typeof TARGETS;

/** As documents show it: `≤1.2`, `0`, `0.8–1.2`. */
export function targetText({ min, max }: Target): string {
  if (min !== undefined && max !== undefined) return `${min}–${max}`;
  if (max === 0) return '0';
  return max === undefined ? `≥${min}` : `≤${max}`;
}
