import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { EndToEndFirst } from './test/harness/end-to-end-first.ts';
import { splitTests } from './test/harness/service-tests.ts';

const { unit, services } = splitTests(import.meta.dirname);

export default defineConfig({
  test: {
    setupFiles: ['test/harness/seed-properties.ts'],
    // One more than cores: end-to-end tests wait for processes, blocks and time limits about half of their time.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: EndToEndFirst },
    testTimeout: 120_000,
    hookTimeout: 240_000,
    reporters: ['default', './test/harness/count-reporter.ts'],
    projects: [
      // Files that start nothing share a worker's modules: loading them takes longer than most of the tests.
      { extends: true, test: { name: 'unit', include: unit, pool: 'threads', isolate: false } },
      {
        extends: true,
        test: { name: 'e2e', include: services, pool: 'forks', globalSetup: ['test/harness/global-setup.ts'] },
      },
    ],
  },
});
