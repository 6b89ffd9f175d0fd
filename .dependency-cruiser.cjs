const { readdirSync, readFileSync } = require('node:fs');

/**
 * What each top-level folder may import besides itself and packages, and why no more. A folder
 * that is not named here may import nothing of the others.
 */
const FOLDERS = {
  protocol: { uses: [], because: 'The arithmetic is pure: it is tested without services and runs anywhere.' },
  ...protocolFloors(),
  config: {
    uses: ['protocol/layouts/event-layouts.ts'],
    because: 'Settings are read before anything else starts; a deployment names a layout that this build decodes.',
  },
  runtime: { uses: ['config'], because: 'Every process needs it, so it knows no process.' },
  chain: {
    uses: ['config', 'protocol', 'runtime'],
    because: 'Every process that asks a chain does so through one client, which knows none of them.',
  },
  db: {
    uses: ['config', 'protocol', 'runtime'],
    because: 'Several processes share the database, so it knows none of them.',
  },
  indexer: {
    uses: ['chain', 'config', 'db', 'protocol', 'runtime', 'ponder.config.ts'],
    because: 'It writes the onchain tables from events alone; its readers know the tables, not its code.',
  },
  ...indexerFloors(),
  'ponder.config.ts': { uses: ['indexer', 'protocol'], because: "It is the indexer's configuration." },
  capture: {
    uses: ['chain', 'config', 'db', 'protocol', 'quoting', 'runtime'],
    because:
      'It reads the indexer through its tables and serves the API through its own. Depth that it records is read as that of quotes.',
  },
  ...captureFloors(),
  quoting: {
    uses: ['chain', 'config', 'db', 'protocol', 'runtime'],
    because:
      'It reads chains and knows prices: the API answers with them and capture records them, so it knows neither.',
  },
  ...quotingFloors(),
  builders: {
    uses: ['chain', 'config', 'db', 'runtime'],
    because: 'The worker runs without the API; the two meet in the queues.',
  },
  'builders/submit': {
    uses: ['config', 'runtime'],
    because: 'The API loads it: it puts updates into the queues and knows nothing of how they reach a builder.',
  },
  api: {
    uses: ['builders/submit', 'chain', 'config', 'db', 'protocol', 'quoting', 'runtime'],
    because: 'It reads the work of the indexer and of capture from Postgres.',
  },
  ...apiFloors(),
  cli: {
    uses: ['capture', 'chain', 'config', 'db', 'indexer', 'protocol', 'quoting', 'runtime'],
    because:
      'A backfill starts the indexer and switches its schemas, a calibration is that of capture, a check follows parts as quotes do; no command needs a running service.',
  },
  client: {
    uses: ['api', 'protocol', 'runtime'],
    because: 'Its types are generated from the routes; it calculates and reads numbers as the API does.',
  },
  web: {
    uses: ['client', 'protocol'],
    because: 'It runs in browsers and asks the API as any customer does; of the arithmetic it knows names alone.',
  },
  'build.ts': {
    uses: ['cli/logic-versions.ts', 'indexer/ponder-patches.ts', 'client/reference.ts', 'runtime', 'web/build.ts'],
    because: 'It bundles the processes, which know nothing of it.',
  },
  local: {
    uses: ['config', 'db', 'runtime'],
    because: 'It runs our processes and their stores on one machine: it starts processes and imports none.',
  },
  devnet: {
    uses: ['builders/proto', 'config', 'db', 'local', 'protocol', 'runtime'],
    because: 'It plays the outside world, beside what runs on one machine.',
  },
  ...devnetFloors(),
};

/**
 * Floors of a folder, from the ground up. Parts of one floor do not know each other.
 *
 * @param ground what all of them use
 * @returns what each uses: the floors below it, and what stands before it on its own
 */
function floorsOf(folder, ground, floors) {
  return Object.fromEntries(
    floors.flatMap((names, floor) => {
      const below = floors
        .slice(0, floor)
        .flat()
        .map((name) => `${folder}/${name}`);
      const uses = [...(typeof ground === 'function' ? ground(floor) : ground), ...below];
      return names.map((name) => [`${folder}/${name}`, { uses, because: 'A floor stands on those below it.' }]);
    }),
  );
}

/** The files of the folder itself are one floor with the smallest subjects, which use them. */
function protocolFloors() {
  const ground = ['[^/]+.ts', 'abi', 'bounded-calls', 'stop-loss'];
  const uses = ground.map((name) => `protocol/${name}`);
  const floors = [ground, ['simulated-walk'], ['layouts'], ['guards', 'routing', 'transfers']];
  return floorsOf('protocol', (floor) => (floor === 0 ? uses : []), floors);
}

/** `main.ts`, and the sources that Ponder reads, stand above. */
function indexerFloors() {
  const ground = ['chain', 'config', 'db', 'protocol', 'runtime'];
  const bottom = ['schema', 'gateway', 'publication', 'deployments.ts'];
  return floorsOf('indexer', ground, [bottom, ['reducers', 'chains.ts'], ['handlers', 'backfill'], ['registration']]);
}

/** Files beside the folders are what all jobs share, and `capture-jobs.ts`, which lists them. */
function captureFloors() {
  const ground = ['chain', 'config', 'db', 'protocol', 'quoting', 'runtime', 'capture/[^/]+.ts'];
  const jobs = ['audit', 'history', 'listing', 'persistence', 'pool-storage', 'price-health'];
  return floorsOf('capture', ground, [['blocks', 'pools', 'read-schedule'], jobs, ['calibration', 'fiat']]);
}

function quotingFloors() {
  const outside = ['chain', 'config', 'db', 'protocol', 'runtime'];
  const ground = [...outside, 'quoting/chain-bounds.ts', 'quoting/snapshot-error.ts', 'quoting/snapshot-metrics.ts'];
  const floors = [
    ['heads'],
    ['pools'],
    ['calls'],
    ['guards'],
    ['reads'],
    ['live'],
    ['parts', 'requested'],
    ['sharing'],
  ];
  // The types of snapshots name pools.
  return floorsOf('quoting', (place) => (place < 2 ? ground : [...ground, 'quoting/types.ts']), floors);
}

/** Files beside the folders are the ground, and some of them a folder's entrance. */
function devnetFloors() {
  const ground = ['builders/proto', 'config', 'db', 'local', 'protocol', 'runtime', 'devnet/[^/]+.ts'];
  return floorsOf('devnet', ground, [
    ['mock-builders', 'packed'],
    ['live', 'parts', 'scenario'],
    ['traffic'],
    ['demo'],
  ]);
}

/** Requests come in on the last floor. Folders that are not named here are resources, above quotes. */
function apiFloors() {
  const ground = ['builders/submit', 'chain', 'config', 'db', 'protocol', 'quoting', 'runtime'];
  const below = [
    ['fault.ts', 'hex.ts'],
    ['errors.ts'],
    ['body.ts', 'request.ts', 'read-in-turn.ts'],
    ['http', 'pool-page.ts'],
    ['auth', 'observability', 'declaration'],
    ['limits'],
    ['sockets', 'latest', 'listing', 'bars'],
    ['quotes'],
  ];
  const above = [['stream', 'levels', 'serving'], ['reference'], ['resources.ts', 'app.ts'], ['main.ts']];
  const named = [...below, ...above].flat();
  const folders = readdirSync(`${__dirname}/api`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const resources = folders.map(({ name }) => name).filter((name) => !named.includes(name));
  return floorsOf('api', ground, [...below, resources, ...above]);
}

/** Tests beside the code may use everything, and so may `test/` and `bench/`. */
const TESTS = ['^(test|bench)/', '[.](test|fixture)[.]ts$', '^vitest[.]config[.]ts$'];
/** The files that `api/resources.ts` lists. */
const HANDLERS = [
  ...readFileSync(`${__dirname}/api/resources.ts`, 'utf8').matchAll(/^import { \w+ } from '[.]\/(.+)[.]ts'/gm),
];
const IS_HANDLER = `^api/(${HANDLERS.map(([, path]) => path).join('|')})[.]ts$`;
const OURS = '^(?!node_modules/|ponder:)';

const inside = (folder) => `^${folder.replaceAll('.', '[.]')}${folder.endsWith('.ts') ? '$' : '/'}`;

const folderRules = Object.entries(FOLDERS).map(([folder, { uses, because }]) => ({
  name: `${folder} uses ${uses.join(', ') || 'nothing'}`,
  comment: because,
  severity: 'error',
  from: { path: inside(folder), pathNot: TESTS },
  to: { pathNot: [folder, ...uses].map(inside), dependencyTypesNot: ['core'], path: OURS },
}));

module.exports = {
  forbidden: [
    ...folderRules,
    {
      name: 'no cycles',
      comment: 'Files that import each other can be read, tested and moved only together.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nothing uses bench',
      comment: 'What tests share with benches is in test/.',
      severity: 'error',
      from: { pathNot: '^bench/' },
      to: { path: '^bench/' },
    },
    {
      name: 'resources do not use each other',
      comment: 'What two of them need is no handler of one: it has a file of its own.',
      severity: 'error',
      from: { path: '^api/([^/]+)', pathNot: ['^api/resources[.]ts$', ...TESTS] },
      to: { path: IS_HANDLER, pathNot: '^api/$1/' },
    },
    {
      name: 'folders are listed',
      comment: 'A new folder gets a README and an entry above.',
      severity: 'error',
      from: { pathNot: [...Object.keys(FOLDERS).map(inside), ...TESTS] },
      to: {},
    },
    {
      name: 'imports resolve',
      comment: 'Every rule here looks at resolved paths only.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^ponder:' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '[.](sol|lua|json|sh)$|^client/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node'] },
  },
};
// Read by a check of the folders' READMEs: the cruiser does not see it.
Object.defineProperty(module.exports, 'FOLDERS', { value: FOLDERS, enumerable: false });
