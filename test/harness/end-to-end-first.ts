import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files with the longest wall-clock time, longest first: one that began last would run alone. */
const LONGEST = [
  'test/backfill.test.ts',
  'test/indexer-state.test.ts',
  'test/pamm/worker-missing.test.ts',
  'test/indexer-new-pools.test.ts',
];

/** Projects in the order in which their files begin. */
const PROJECTS = ['e2e', 'services', 'unit'];

/**
 * The end-to-end files take longest and begin first, so that the short ones fill the time of all workers to the end. A
 * clean checkout knows no durations, and the sizes of files, by which they are sorted then, say little about them. Files
 * of one project follow each other: those that share modules need a worker of their own project.
 */
export class EndToEndFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.indexOf(relative(project.config.root, moduleId));
  return place >= 0 ? place : LONGEST.length + PROJECTS.indexOf(project.name);
}
