import { sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The end-to-end files take longest and begin first, so that the short ones fill the time of both workers to the end. A
 * clean checkout knows no durations, and the sizes of files, by which they are sorted then, say little about them.
 */
export class EndToEndFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isEndToEnd = ({ moduleId, project }: TestSpecification) =>
      moduleId.startsWith(`${project.config.root}${sep}test${sep}`);
    return [...sorted.filter(isEndToEnd), ...sorted.filter((file) => !isEndToEnd(file))];
  }
}
