import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest by the clock, longest first: one that began last would run alone. */
const LONGEST = [
  'test/backfill.test.ts',
  'test/chaos.test.ts',
  'test/chaos/deep-reorganisation.test.ts',
  'test/demo.test.ts',
  'test/indexer-state.test.ts',
  'test/pamm/worker-missing.test.ts',
];

/**
 * The end-to-end files take longest and begin first, so that the short ones fill the time of all workers to the end. A
 * clean checkout knows no durations, and the sizes of files, by which they are sorted then, say little about them.
 */
export class EndToEndFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

/** The place among the longest; then other end-to-end files, then those beside the code. */
function rank({ moduleId, project }: TestSpecification): number {
  const path = relative(project.config.root, moduleId);
  const place = LONGEST.indexOf(path);
  if (place >= 0) return place;
  return path.startsWith('test/') ? LONGEST.length : LONGEST.length + 1;
}
