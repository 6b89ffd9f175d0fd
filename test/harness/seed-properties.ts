import fc from 'fast-check';
import { PROPERTY_SEED, repeatCommand, runs } from './property-seed.ts';

fc.configureGlobal({
  seed: PROPERTY_SEED,
  numRuns: runs(50),
  reporter(run) {
    if (!run.failed) return;
    const message = `${fc.defaultReportMessage(run)}\n\nRepeat: ${repeatCommand()}`;
    throw new Error(message, { cause: run.errorInstance });
  },
});
