/** What a page promises without exception, and the test that fails when it is broken. */
export interface PagePromise {
  readonly page: string;
  /** The part of the sentence, once in the page, that has the absolute word. */
  readonly part: string;
  /** File and name of the test, or the part of its name that all of its cases have. */
  readonly test: readonly [file: string, name: string];
}

const FILLS = ['test/quotes/every-amount-fills.test.ts', 'nothing inside a side is refused'] as const;
const MIGRATIONS_STAY = ['db/migrate.test.ts', 'a file that was edited after it ran is refused by name'] as const;

export const PROMISES: readonly PagePromise[] = [
  { page: 'README.md', part: 'Every amount up to the last level [fills', test: FILLS },
  { page: 'docs/use/quotes.md', part: 'Every amount that gives at least one unit of output', test: FILLS },
  { page: 'docs/use/takers.md', part: 'Every amount up to the last level fills', test: FILLS },
  { page: 'db/README.md', part: 'a migration that ran never changes', test: MIGRATIONS_STAY },
  { page: 'migrations/README.md', part: 'a file that was released never changes', test: MIGRATIONS_STAY },
  {
    page: 'docs/use/stream.md',
    part: 'Any process resumes',
    test: ['test/stream/resume.test.ts', 'a process that never read the pools sends all quotes as updates'],
  },
  {
    page: 'docs/run/install.md',
    part: 'Tests start every process',
    test: ['test/operations/image.test.ts', 'every process starts from the folder of the image'],
  },
  {
    page: 'docs/run/recover.md',
    part: 'switches all views at once',
    test: ['indexer/publication/live-views.test.ts', 'readers meet no error, no half of a switch and no missing row'],
  },
  {
    page: 'docs/use/quotes.md',
    part: 'is never quoted: 503',
    test: ['test/quotes/age.test.ts', 'a quote of a block that is too old is given to nobody'],
  },
  {
    page: 'docs/use/route.md',
    part: 'is never counted twice',
    test: ['protocol/routing/split.test.ts', 'counts the liquidity of a shared pool once'],
  },
  {
    page: 'docs/use/sql.md',
    part: 'every view of the schema',
    test: ['db/read-model.test.ts', 'names every view and each of its columns'],
  },
  {
    page: 'docs/use/stream.md',
    part: 'Any origin may connect',
    test: ['test/client/package.test.ts', 'in a browser of another origin it calculates, calls and streams'],
  },
  {
    page: 'docs/use/stream.md',
    part: 'never the latest state',
    test: ['test/stream/slow-reader.test.ts', 'who does not read gets the latest only'],
  },
  {
    page: 'docs/use/takers.md',
    part: 'Over any processes, neither',
    test: ['test/takers/processes.test.ts', 'nothing is of an earlier time or block than what either gave before'],
  },
  {
    page: 'docs/use/takers.md',
    part: 'It has every pool that you requested',
    test: ['test/takers/levels-stream.test.ts', 'every one is complete'],
  },
  {
    page: 'docs/run/configure.md',
    part: 'three hashes of one height at once',
    test: ['chain/head-feed/next-pushed.test.ts', 'parts of a block, pushed each 200 ms, are not heads'],
  },
  {
    page: 'ops/README.md',
    part: 'every metric that it names exists',
    test: ['test/operations/process-metrics.ts', 'are all that the dashboard and the alerts read'],
  },
  {
    page: 'ops/README.md',
    part: 'every alert has its place',
    test: ['test/documents/checks.ts', 'each alert has its line in operate.md'],
  },
  {
    page: 'web/README.md',
    part: 'a text of a token is never markup',
    test: ['test/explorer/list.test.ts', 'a hostile name is text, and moves nothing'],
  },
];
