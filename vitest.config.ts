import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/harness/longest-first.ts';
import { splitTests } from './test/harness/service-tests.ts';
import { SlowestFiles } from './test/harness/slowest-files.ts';

const { unit, services } = splitTests(import.meta.dirname);
const globalSetup = ['test/harness/global-setup.ts'];
/** Minutes of one thing: no part of the two minutes of `.ci/run`. */
const longSoak = ['client', 'contracts', 'deep-reorganisation', 'export', 'image'].map(
  (name) => `test/soak/${name}.soak.ts`,
);
/** With `FILE_ORDER=<seed>` files are in its order, and tests of units, too. */
const order = process.env.FILE_ORDER;
const exclude = process.env.SOAK === 'long' ? [] : longSoak;

export default defineConfig({
  test: {
    // Node's own import, which finds files compiled by runs before.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    runner: 'test/harness/file-runner.ts',
    setupFiles: ['test/harness/seed-properties.ts', 'test/harness/measure-file.ts', 'test/harness/explain-failures.ts'],
    // End-to-end tests wait for most of their time.
    maxWorkers: 2 * availableParallelism(),
    // Tests start some hundred processes of ours: each finds its packages compiled by one before it.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') },
    sequence: { sequencer: LongestFirst, seed: Number(order ?? 0) },
    // As `vi.waitFor` and `vi.waitUntil` have it, by `explain-failures.ts`.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 120_000,
    hookTimeout: 240_000,
    reporters: ['default', new SlowestFiles(), './test/harness/count-reporter.ts'],
    projects: [
      // Files that start no process of ours share a worker's modules: loading them takes longer than most of the tests.
      {
        extends: true,
        // Tests of other files may build on those before them.
        test: {
          name: 'unit',
          include: unit,
          pool: 'threads',
          isolate: false,
          // What they wait for is there within a turn or two, and looking costs nothing.
          provide: { waitIntervalMs: 5 },
          expect: { poll: { timeout: 30_000, interval: 5 } },
          // They compute: further workers would only load all modules again. Other numbers are other groups.
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 1, shuffle: { tests: !!order } },
        },
      },
      { extends: true, test: { name: 'services', include: services, pool: 'forks', isolate: false, globalSetup } },
      { extends: true, test: { name: 'soak', include: ['test/soak/*.soak.ts'], exclude, pool: 'forks', globalSetup } },
    ],
  },
});
