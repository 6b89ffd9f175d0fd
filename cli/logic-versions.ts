import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ConfigError } from '../config/config-error.ts';
import { PROJECT_ROOT } from '../runtime/project-root.ts';

/** Code whose rows are kept: those of another version are not continued. */
export const LOGIC_NAMES = ['index', 'listing'] as const;
export type LogicName = (typeof LOGIC_NAMES)[number];

/** What is committed of a logic: the number that its author raises, and digests of the files that it was given to. */
type CommittedLogic = { readonly version: number; readonly files: Readonly<Record<string, string>> };

type Logic = {
  /** The modules that it begins with. */
  readonly entries: readonly string[];
  /** A folder all of whose SQL files belong to it. */
  readonly folder?: string;
  /** Where its version is committed. */
  readonly committed: string;
};

const LOGICS: Readonly<Record<LogicName, Logic>> = {
  index: {
    entries: ['indexer/registration/all.ts', 'indexer/ponder.schema.ts'],
    committed: 'indexer/logic-version.json',
  },
  // Migrations change what its views show.
  listing: {
    entries: ['capture/listing/refresh-listing.ts', 'capture/listing/classify.ts'],
    folder: 'migrations',
    committed: 'capture/listing/logic-version.json',
  },
};
/** The chains file counts by its values, not by the code that reads it. */
const NOT_LOGIC = /^config\//;
/** Imports of the project's own modules, but for those of types alone. */
const IMPORT = /^(?:import|export)(?!\s+type\b)(?:[^;]*?\sfrom)?\s+'(\.[^']+)'/gm;

/**
 * The version of a logic.
 *
 * @throws ConfigError when its files are not those that the version was given to
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

/** @throws ConfigError when the files of a logic are not those that its version was given to */
export function assertLogicVersions(): void {
  for (const name of LOGIC_NAMES) logicVersion(name);
}

/** Files of a logic that were changed, added or left out since its version was given, in order. */
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
    for (const [, imported = ''] of text.matchAll(IMPORT)) {
      paths.push(relative(root, join(root, dirname(path), imported)));
    }
  }
  return Object.fromEntries([...hashes].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Gives the version to the files as they are now: the next one when their rows differ, otherwise the same. */
export function giveLogicVersion(name: LogicName, isRaised: boolean, root: string = PROJECT_ROOT): void {
  const { version } = readCommitted(name, root);
  const isNext = isRaised && changedFiles(name, root).length > 0;
  const committed: CommittedLogic = { version: isNext ? version + 1 : version, files: hashFiles(name, root) };
  writeFileSync(committedPath(name, root), `${JSON.stringify(committed, null, 2)}\n`);
}

/** Where the version of a logic is committed. */
export const committedPath = (name: LogicName, root: string = PROJECT_ROOT): string =>
  join(root, LOGICS[name].committed);

const readCommitted = (name: LogicName, root: string): CommittedLogic =>
  JSON.parse(readFileSync(committedPath(name, root), 'utf8'));
