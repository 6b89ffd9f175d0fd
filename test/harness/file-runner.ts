import { pathToFileURL } from 'node:url';
import { TestRunner } from 'vitest';

type Import = Parameters<TestRunner['importFile']>;

/** What a setup file may export. */
interface SetupFile {
  /** Called before each test file. */
  readonly beforeFile?: () => void;
}

/**
 * Imports files by their own URLs, as Node has compiled them in runs before. Vitest would add the time to them, and
 * Node's compile cache would grow with each run. So a setup file is loaded once per worker.
 */
export default class FileRunner extends TestRunner {
  override async importFile(...[path, source]: Import): Promise<void> {
    const loaded: SetupFile = await import(pathToFileURL(path).href);
    if (source === 'setup') loaded.beforeFile?.();
  }
}
