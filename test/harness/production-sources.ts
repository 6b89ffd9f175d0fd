import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

const FOLDERS = [
  'api',
  'builders',
  'capture',
  'chain',
  'cli',
  'client',
  'config',
  'db',
  'indexer',
  'protocol',
  'runtime',
];

/**
 * TypeScript files of the folders that run in production, but for tests, by their paths from the root of the project.
 */
export function productionSources(): string[] {
  const paths = FOLDERS.flatMap((folder) =>
    readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  return ['ponder.config.ts', ...paths].filter((path) => /(?<!\.test)\.ts$/.test(path));
}
