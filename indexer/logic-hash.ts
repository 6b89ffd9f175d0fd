import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Folders whose code decides what the tables hold. */
const LOGIC_FOLDERS = ['indexer/handlers', 'indexer/reducers', 'indexer/schema', 'protocol'];

/**
 * A digest of the code behind the handlers. Ponder itself compares only `src/` and the schema module when it decides
 * whether a database schema may be continued; with this in its configuration, changed logic never goes on from rows
 * that other logic wrote.
 */
export function logicHash(root: string = ROOT): string {
  const hash = createHash('sha256');
  for (const file of LOGIC_FOLDERS.flatMap((folder) => sourceFiles(join(root, folder))).sort()) {
    hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}
