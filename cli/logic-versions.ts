import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ConfigError } from '../config/config-error.ts';
import { PROJECT_ROOT } from '../runtime/project-root.ts';

/** Code that writes stored rows. Code of another version does not continue these rows. */
export const LOGIC_NAMES = ['index', 'listing'] as const;
export type LogicName = (typeof LOGIC_NAMES)[number];

/** The committed version of a logic: a number that its author raises, and digests of the files at that version. */
type CommittedLogic = { readonly version: number; readonly files: Readonly<Record<string, string>> };

type Logic = {
  /** The modules from which its imports are followed. */
  readonly entries: readonly string[];
  /** A folder whose SQL files all belong to it. */
  readonly folder?: string;
  /** The file with its committed version. */
  readonly committed: string;
};

const LOGICS: Readonly<Record<LogicName, Logic>> = {
  index: {
    entries: ['indexer/registration/all.ts', 'indexer/ponder.schema.ts'],
    committed: 'indexer/logic-version.json',
  },
  // Migrations belong to it because they change what its views show.
  listing: {
    entries: ['capture/listing/refresh-listing.ts', 'capture/listing/classify.ts'],
    folder: 'migrations',
    committed: 'capture/listing/logic-version.json',
  },
};
/** Code of `config/` does not count: the values of the chains file matter, not how it is read. */
const NOT_LOGIC = /^config\//;
/** Imports of the project's own modules, except imports of types only, and files of SQL that a module loads. */
const IMPORT =
  /^(?:import|export)(?!\s+type\b)(?:[^;]*?\sfrom)?\s+'(\.[^']+)'|(?<=')(\.\/[^'\s]+\.sql)(?=',\s*import)/gm;

/**
 * The committed version of a logic.
 *
 * @throws ConfigError when a file of the logic has changed since that version was given
 */
export function logicVersion(name: LogicName, root: string = PROJECT_ROOT): number {
  const { version } = readCommitted(name, root);
  const changed = changedFiles(name, root);
  if (changed.length === 0) return version;
  throw new ConfigError(
    `${name} logic: ${changed.join(', ')} changed since version ${version}: run "npm run logic-version same" ` +
      `if rows of this version stay right, "npm run logic-version raised" if not`,
  );
}

/** @throws ConfigError when a file of a logic has changed since its version was given */
export function assertLogicVersions(): void {
  for (const name of LOGIC_NAMES) logicVersion(name);
}

/** Files of a logic that were changed, added or removed since its version was given, sorted. */
export function changedFiles(name: LogicName, root: string = PROJECT_ROOT): readonly string[] {
  const { files: before } = readCommitted(name, root);
  const files = hashFiles(name, root);
  return Object.keys({ ...before, ...files })
    .filter((file) => before[file] !== files[file])
    .sort();
}

/** Digests of the files of a logic, by path. */
export function hashFiles(name: LogicName, root: string = PROJECT_ROOT): Readonly<Record<string, string>> {
  const hashes = new Map<string, string>();
  const { entries, folder } = LOGICS[name];
  const paths = [...entries];
  const names = folder === undefined ? [] : readdirSync(join(root, folder)).filter((file) => file.endsWith('.sql'));
  paths.push(...names.map((file) => `${folder}/${file}`));
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    if (hashes.has(path) || NOT_LOGIC.test(path)) continue;
    const text = readFileSync(join(root, path), 'utf8');
    hashes.set(path, createHash('sha256').update(text).digest('hex').slice(0, 16));
    for (const [, imported, loaded = ''] of text.matchAll(IMPORT)) {
      paths.push(relative(root, join(root, dirname(path), imported ?? loaded)));
    }
  }
  return Object.fromEntries([...hashes].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Gives a version to the files as they are now: the next one if they write other rows, otherwise the same one. */
export function giveLogicVersion(name: LogicName, isRaised: boolean, root: string = PROJECT_ROOT): void {
  const { version } = readCommitted(name, root);
  const isNext = isRaised && changedFiles(name, root).length > 0;
  const committed: CommittedLogic = { version: isNext ? version + 1 : version, files: hashFiles(name, root) };
  writeFileSync(committedPath(name, root), `${JSON.stringify(committed, null, 2)}\n`);
}

/** Path of the file with the committed version of a logic. */
export const committedPath = (name: LogicName, root: string = PROJECT_ROOT): string =>
  join(root, LOGICS[name].committed);

const readCommitted = (name: LogicName, root: string): CommittedLogic =>
  JSON.parse(readFileSync(committedPath(name, root), 'utf8'));
