import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files with the longest wall-clock time, longest first: one that began last would run alone. A clean checkout knows no
 * durations, and the sizes of files, by which they are sorted then, say little about them.
 */
const LONGEST = [
  'test/backfill.test.ts',
  'test/indexed-world.test.ts',
  'test/indexer-new-pools.test.ts',
  'test/explorer.test.ts',
  'cli/commands.test.ts',
  'cli/export.test.ts',
  'devnet/services/watchdog.test.ts',
  'test/scale.test.ts',
  'test/scale-reader.test.ts',
  'test/pamm/worker-missing.test.ts',
  'capture/history/record-depth.test.ts',
];

/** Begins with the longest files, and with those that need services: files of one project follow each other. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.indexOf(relative(project.config.root, moduleId));
  return place >= 0 ? place : LONGEST.length + (project.name === 'unit' ? 1 : 0);
}
