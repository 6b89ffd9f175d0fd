import { hash } from 'node:crypto';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files with the longest wall-clock time, longest first: one that began last would run alone. A clean checkout knows no
 * durations, and the sizes of files, by which they are sorted then, say little about them.
 */
const LONGEST = [
  'test/local/start.test.ts',
  'test/backfill/backfill.test.ts',
  'test/indexing/indexed-world.test.ts',
  'test/live/part-processes.test.ts',
  'test/indexing/audit.test.ts',
  'test/indexing/carried-cache.test.ts',
  'test/indexing/log-faults.test.ts',
  'test/local/start-given.test.ts',
  'cli/chain.test.ts',
  'test/indexing/new-pools.test.ts',
  'test/operations/operations.test.ts',
  'test/quotes/packed-guards.test.ts',
  'test/live/capture-shared.test.ts',
  'test/live/part-unchanged.test.ts',
  'test/quotes/rpc.test.ts',
  'test/quotes/shared-reads.test.ts',
  'test/scale/reader.test.ts',
  'test/explorer/pool.test.ts',
  'test/live/truth.test.ts',
  'test/backfill/changed-chains.test.ts',
  'test/indexing/audited-settings.test.ts',
  'local/services/watchdog.test.ts',
  'cli/export.test.ts',
  'test/explorer/list.test.ts',
  'test/takers/processes.test.ts',
  'test/client/math.test.ts',
  'cli/commands.test.ts',
  'api/metadata/metadata.test.ts',
  'test/stream/stream-blocks.test.ts',
  'test/live/processes.test.ts',
  'test/client/package.test.ts',
  'test/explorer/explorer.test.ts',
  'test/quotes/read-ahead.test.ts',
  'test/operations/image.test.ts',
  'test/live/executability.test.ts',
  'test/local/start-errors.test.ts',
  'test/indexing/discovery-nodes.test.ts',
  'test/takers/levels-stream.test.ts',
  'test/pamm/redis-silent.test.ts',
  'devnet/demo/live-prices.test.ts',
  'cli/config-check.test.ts',
  'test/live/parts.test.ts',
  'cli/config-check/check-nodes.test.ts',
  // Of the project `unit`.
  'test/simulate/simulate.test.ts',
  'indexer/gateway/gateway.test.ts',
  'test/takers/frames.test.ts',
  'quoting/guards/unknown-guard-prober.test.ts',
  'api/levels/price-levels.test.ts',
  'test/stream/live-resume.property.test.ts',
];

/** Begins with the longest files of a project. With `FILE_ORDER=<seed>` files are in its order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seed = process.env.FILE_ORDER;
    if (seed) return files.toSorted((one, other) => compare(drawn(one, seed), drawn(other, seed)));
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.indexOf(relative(project.config.root, moduleId));
  return place >= 0 ? place : LONGEST.length;
}

/** By a digest of the seed and the path. */
const drawn = ({ moduleId, project }: TestSpecification, seed: string): string =>
  hash('sha1', `${seed} ${relative(project.config.root, moduleId)}`);

const compare = (one: string, other: string): number => (one < other ? -1 : 1);
