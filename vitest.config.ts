import { defineConfig } from 'vitest/config';
import { EndToEndFirst } from './test/harness/end-to-end-first.ts';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules/**', 'dist/**'],
    globalSetup: ['test/harness/global-setup.ts'],
    setupFiles: ['test/harness/property-seed.ts'],
    pool: 'forks',
    // By default one core less than there are: on two, one would idle while the other waits for processes and blocks.
    maxWorkers: 2,
    sequence: { sequencer: EndToEndFirst },
    testTimeout: 120_000,
    hookTimeout: 240_000,
    reporters: ['default', './test/harness/count-reporter.ts'],
  },
});
